import { type FocusEvent, useState } from "react";

/**
 * Of a button that is of use for a while: after that it stays as long as it has the focus, which would be nowhere. Then its place does: what is pressed
 * beside it, which takes the focus from it, would move away from under the pointer.
 */
export function useStay(isOfUse: boolean) {
  const [focus, setFocus] = useState<"never" | "has" | "had">("never");
  const isSeen = isOfUse || focus === "has";
  return {
    isDrawn: isOfUse || focus !== "never",
    stay: {
      style: { visibility: isSeen ? ("visible" as const) : ("hidden" as const) },
      onFocus: () => setFocus("has"),
      // A window that is left keeps its focus for when it is come back to.
      onBlur: ({ currentTarget }: FocusEvent) => document.activeElement !== currentTarget && setFocus("had"),
    },
  };
}
