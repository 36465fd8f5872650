import { Button, type ButtonProps } from "@mantine/core";
import type { ComponentProps, MouseEvent } from "react";

type Given = Pick<ComponentProps<"button">, "type" | "onClick" | "onFocus" | "onBlur" | "children">;

interface Props extends Omit<ButtonProps, "loading" | keyof Given>, Given {
  /** What it asked for is under way. */
  isBusy: boolean;
}

/**
 * A button that asks for something. It is closed meanwhile, and not `disabled`, as Mantine's `loading` would have it: that takes the focus
 * from it, and who goes by the keyboard would be nowhere, and out of the dialog in which it stands.
 */
export function BusyButton({ isBusy, onClick, ...rest }: Props) {
  const overlook = (event: MouseEvent) => event.preventDefault(); // nor does it send its form off again
  return (
    <Button
      {...rest}
      data-disabled={isBusy || undefined}
      aria-disabled={isBusy || undefined}
      onClick={isBusy ? overlook : onClick}
    />
  );
}
