import type { ButtonProps } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { BusyButton } from "./busy-button.tsx";

interface Props extends Omit<ButtonProps, "loading"> {
  /** Where there is no more it is not seen, once it does not have the focus: that would be nowhere. */
  hasMore: boolean;
  /** What it asked for is on its way. */
  isLoading: boolean;
  onClick: () => void;
  children: ReactNode;
}

/** Reads more of a list. */
export function MoreButton({ hasMore, isLoading, ...rest }: Props) {
  const [focus, setFocus] = useState<"never" | "has" | "had">("never");
  if (!hasMore && focus === "never") return null;
  // Its place stays: what is pressed beside it, which takes the focus from it, would move away from under the pointer.
  const isSeen = hasMore || focus === "has";
  return (
    <BusyButton
      variant="default"
      size="compact-md"
      {...rest}
      style={{ visibility: isSeen ? "visible" : "hidden" }}
      isBusy={isLoading || !hasMore}
      onFocus={() => setFocus("has")}
      onBlur={() => setFocus("had")}
    />
  );
}
