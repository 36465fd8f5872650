/** A link in a picture can have it, too. */
type Focusable = HTMLElement | SVGElement;

/** What has the focus, and all around it: from the innermost on. */
export function focusedAndAround(): Focusable[] {
  const all: Focusable[] = [];
  for (let one = document.activeElement; one !== null; one = one.parentElement)
    if (one instanceof HTMLElement || one instanceof SVGElement) all.push(one);
  return all;
}

/** The focus to the first of these that can have it, if nothing else on the page has it. */
export function giveFocus(to: readonly Focusable[]): void {
  for (const element of to) {
    if (document.activeElement !== null && document.activeElement !== document.body) return;
    element.focus({ preventScroll: true });
  }
}
