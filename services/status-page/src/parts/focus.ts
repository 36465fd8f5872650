/** What has the focus, and all around it: from the innermost on. */
export function focusedAndAround(): HTMLElement[] {
  const all: HTMLElement[] = [];
  for (let one = document.activeElement; one instanceof HTMLElement; one = one.parentElement) all.push(one);
  return all;
}

/** The focus to the first of these that can have it, if nothing else on the page has it. */
export function giveFocus(to: readonly HTMLElement[]): void {
  for (const element of to) {
    if (document.activeElement !== null && document.activeElement !== document.body) return;
    element.focus({ preventScroll: true });
  }
}
