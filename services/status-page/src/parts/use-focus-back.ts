import { useEffect, useState } from "react";

/**
 * Of a dialog: when it is gone the focus is where it was before, or, where that is gone too, or closed, at the nearest around it that can have it. Else who
 * goes by the keyboard begins at the top of the page again. Mantine gives it back for a dialog that stays where it is, and is closed.
 */
export function useFocusBack(): void {
  const [before] = useState(() => withAncestors(document.activeElement));
  useEffect(
    () => () => {
      setTimeout(() => giveTo(before)); // once it is out of the document
    },
    [before],
  );
}

function withAncestors(element: Element | null): HTMLElement[] {
  const all: HTMLElement[] = [];
  for (let one = element; one instanceof HTMLElement; one = one.parentElement) all.push(one);
  return all;
}

/** What cannot have it leaves it where it is. */
function giveTo(elements: readonly HTMLElement[]): void {
  for (const element of elements) {
    if (document.activeElement !== null && document.activeElement !== document.body) return;
    element.focus({ preventScroll: true });
  }
}
