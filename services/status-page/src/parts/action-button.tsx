import { Button, type ButtonProps } from "@mantine/core";
import { type ComponentProps, type MouseEvent, type ReactNode, useId } from "react";
import { useWhyNot } from "../live/use-session.ts";
import { useNotices } from "../shell/notices.tsx";
import { BusyButton } from "./busy-button.tsx";

interface Props extends Omit<ButtonProps, "loading">, Pick<ComponentProps<"button">, "onFocus" | "onBlur"> {
  /** The call that it leads to, by its operationId. */
  call: string;
  /** That call is under way. */
  isBusy?: boolean;
  onClick: () => void;
  children: ReactNode;
}

/**
 * A button for what not everybody may do. A user who may not still reaches it by the keyboard, sees that it is closed to them, and is
 * told why by pointing at it, by their screen reader and by pressing it.
 */
export function ActionButton({ call, isBusy = false, onClick, children, ...rest }: Props) {
  const why = useWhyNot(call);
  const id = useId();
  const { say } = useNotices();
  if (why === null) {
    return (
      <BusyButton {...rest} isBusy={isBusy} onClick={onClick}>
        {children}
      </BusyButton>
    );
  }
  const tell = (event: MouseEvent) => {
    event.preventDefault();
    say("refused", why);
  };
  return (
    <>
      <Button {...rest} data-disabled aria-disabled="true" aria-describedby={id} title={why} onClick={tell}>
        {children}
      </Button>
      <span id={id} className="unseen">
        {why}
      </span>
    </>
  );
}
