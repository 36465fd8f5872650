import type { ButtonProps } from "@mantine/core";
import type { ReactNode } from "react";
import { BusyButton } from "./busy-button.tsx";
import { useStay } from "./use-stay.ts";

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
  const { isDrawn, stay } = useStay(hasMore);
  return isDrawn && <BusyButton variant="default" size="compact-md" {...rest} {...stay} isBusy={isLoading || !hasMore} />;
}
