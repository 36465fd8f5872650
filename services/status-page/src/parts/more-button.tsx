import { Button, type ButtonProps } from "@mantine/core";
import type { ReactNode } from "react";

interface Props extends ButtonProps {
  /** What it asked for is on its way. */
  isLoading: boolean;
  onClick: () => void;
  children: ReactNode;
}

/** Reads more of a list. It is closed meanwhile, and not `disabled`: that would take the focus from it. */
export function MoreButton({ isLoading, onClick, children, ...rest }: Props) {
  return (
    <Button
      variant="default"
      size="compact-md"
      {...rest}
      data-disabled={isLoading || undefined}
      aria-disabled={isLoading || undefined}
      onClick={isLoading ? undefined : onClick}
    >
      {children}
    </Button>
  );
}
