import { focusedAndAround, giveFocus } from "../parts/focus.ts";

/** After a dialog has given the focus back, which it does in a turn of its own. */
const LOOK_AFTER_MS = 50;

/**
 * From now on, when what has the focus goes (also with its page, as a link that was followed), or is closed, the focus is at the nearest around it that
 * can have it, `#main` at last: browsers leave it nowhere, and who goes by the keyboard would begin at the top of the page again, and hear nothing.
 */
export function keepFocus(): void {
  let last: ReturnType<typeof focusedAndAround> = [];
  let isToLook = false;
  const look = () => {
    isToLook = false;
    const [focused] = last;
    const main = document.getElementById("main");
    const isLost = focused !== undefined && (!focused.isConnected || focused.matches(":disabled"));
    if (isLost && main) giveFocus([...last, main]);
  };
  document.addEventListener("focusin", () => {
    last = focusedAndAround();
  });
  const changes = new MutationObserver(() => {
    if (!isToLook) setTimeout(look, LOOK_AFTER_MS);
    isToLook = true;
  });
  changes.observe(document.body, { subtree: true, childList: true, attributeFilter: ["disabled"] });
}
