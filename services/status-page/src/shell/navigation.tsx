import { type AnchorHTMLAttributes, type MouseEvent, useSyncExternalStore } from "react";
import { BASE_PATH } from "../wire/base-path.ts";

const MOVED = "unacked:moved";

/** What the page calls `/observers` is below the base path to the browser. */
export const toBrowser = (address: string): string => `${BASE_PATH}${address}`;

const pathHere = (): string => location.pathname.slice(BASE_PATH.length);

/** Goes to an address of this page. `replace`: it does not become a step of the browser's Back. */
export function navigate(address: string, { replace = false } = {}): void {
  if (address === pathHere() + location.search) return;
  if (replace) history.replaceState(null, "", toBrowser(address));
  else history.pushState(null, "", toBrowser(address));
  window.dispatchEvent(new Event(MOVED));
}

function subscribe(listener: () => void): () => void {
  for (const event of ["popstate", MOVED]) window.addEventListener(event, listener);
  return () => {
    for (const event of ["popstate", MOVED]) window.removeEventListener(event, listener);
  };
}

export const usePath = (): string => useSyncExternalStore(subscribe, pathHere);
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
    <a {...rest} href={toBrowser(href)} onClick={follow}>
      {children}
    </a>
  );
}
