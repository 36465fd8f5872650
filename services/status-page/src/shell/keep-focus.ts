import { focusedAndAround, giveFocus } from "../parts/focus.ts";

/** From one look to the next. A dialog that is closed gives the focus back by itself, in the turn after that. */
const LOOK_AFTER_MS = 50;

/**
 * From now on, when what has the focus goes (also with its page, as a link that was followed), or is closed, the focus is at the nearest around it that
 * can have it, `#main` at last: browsers leave it nowhere, and who goes by the keyboard would begin at the top of the page again, and hear nothing.
 */
export function keepFocus(): void {
  let last = focusedAndAround();
  let isToLook = false;
  let wasLost = false;
  const lookLater = () => {
    if (!isToLook) setTimeout(look, LOOK_AFTER_MS);
    isToLook = true;
  };
  const look = () => {
    isToLook = false;
    const [focused] = last;
    const isNowhere = (document.activeElement ?? document.body) === document.body;
    const isLost = isNowhere && focused !== undefined && (!focused.isConnected || focused.matches(":disabled"));
    const main = document.getElementById("main");
    if (isLost && !wasLost) lookLater();
    else if (isLost && main) giveFocus([...last, main]);
    wasLost = isLost && !wasLost;
  };
  document.addEventListener("focusin", () => {
    last = focusedAndAround();
  });
  new MutationObserver(lookLater).observe(document.body, { subtree: true, childList: true, attributeFilter: ["disabled"] });
}
