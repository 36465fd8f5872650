import { type AnchorHTMLAttributes, type MouseEvent, useSyncExternalStore } from "react";

const MOVED = "unacked:moved";

/** Goes to an address of this page. `replace`: it does not become a step of the browser's Back. */
export function navigate(address: string, { replace = false } = {}): void {
  if (address === location.pathname + location.search) return;
  if (replace) history.replaceState(null, "", address);
  else history.pushState(null, "", address);
  window.dispatchEvent(new Event(MOVED));
}

function subscribe(listener: () => void): () => void {
  for (const event of ["popstate", MOVED]) window.addEventListener(event, listener);
  return () => {
    for (const event of ["popstate", MOVED]) window.removeEventListener(event, listener);
  };
}

export const usePath = (): string => useSyncExternalStore(subscribe, () => location.pathname);
export const useSearch = (): string => useSyncExternalStore(subscribe, () => location.search);

/** A link within the page. With a modifier key, the browser's own: a new tab. */
export function Link({ href = "/", onClick, children, ...rest }: AnchorHTMLAttributes<HTMLAnchorElement>) {
  const follow = (event: MouseEvent<HTMLAnchorElement>) => {
    onClick?.(event);
    const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    if (!isPlain || event.defaultPrevented) return;
    event.preventDefault();
    navigate(href);
    window.scrollTo(0, 0);
  };
  return (
    <a {...rest} href={href} onClick={follow}>
      {children}
    </a>
  );
}
