import type { ButtonProps } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { BusyButton } from "./busy-button.tsx";

interface Props extends Omit<ButtonProps, "loading"> {
  /** Where there is no more it is gone, once it does not have the focus: that would be nowhere. */
  hasMore: boolean;
  /** What it asked for is on its way. */
  isLoading: boolean;
  onClick: () => void;
  children: ReactNode;
}

/** Reads more of a list. */
export function MoreButton({ hasMore, isLoading, ...rest }: Props) {
  const [hasFocus, setFocus] = useState(false);
  if (!hasMore && !hasFocus) return null;
  return (
    <BusyButton
      variant="default"
      size="compact-md"
      {...rest}
      isBusy={isLoading || !hasMore}
      onFocus={() => setFocus(true)}
      onBlur={() => setFocus(false)}
    />
  );
}
