import { useEffect, useState } from "react";
import { focusedAndAround, giveFocus } from "./focus.ts";

/**
 * Of a dialog: when it is gone the focus is where it was before, or, where that is gone too, or closed, at the nearest around it that can have it. Else who
 * goes by the keyboard begins at the top of the page again. Mantine gives it back for a dialog that stays where it is, and is closed.
 */
export function useFocusBack(): void {
  const [before] = useState(focusedAndAround);
  useEffect(
    () => () => {
      setTimeout(() => giveFocus(before)); // once it is out of the document
    },
    [before],
  );
}
