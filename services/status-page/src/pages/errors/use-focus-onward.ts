import { type RefObject, useLayoutEffect } from "react";

/**
 * Of a message, or a group: when it goes with the focus in it, the focus is on the next one, or, where it was the last of its group, on the group
 * beside that, or on what holds them. Else who goes by the keyboard begins at the top of the page again.
 */
export function useFocusOnward(leaving: RefObject<HTMLElement | null>): void {
  // At its end it is still in the document.
  useLayoutEffect(() => {
    const element = leaving.current;
    return () => {
      if (element?.contains(document.activeElement)) giveOnward(element);
    };
  }, [leaving]);
}

function giveOnward(leaving: HTMLElement): void {
  const group = leaving.closest("article");
  for (const one of [...beside(leaving), ...beside(group), leaving.closest("section")]) {
    if (!(one instanceof HTMLElement && one.hasAttribute("tabindex"))) continue;
    const { top, bottom } = leaving.getBoundingClientRect();
    const isSeen = bottom > 0 && top < window.innerHeight; // else who reads elsewhere would be taken away from there
    // Scrolled to only once the other is gone, when all is in its place.
    one.focus({ preventScroll: true });
    if (isSeen) queueMicrotask(() => one.scrollIntoView({ block: "nearest" }));
    return;
  }
}

const beside = (element: Element | null): (Element | null | undefined)[] => [
  element?.nextElementSibling,
  element?.previousElementSibling,
];
