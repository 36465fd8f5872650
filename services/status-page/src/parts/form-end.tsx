import { Button } from "@mantine/core";
import type { ReactNode } from "react";
import { BusyButton } from "./busy-button.tsx";
import css from "./form.module.css";

interface EndProps {
  rest: readonly string[];
  isBusy: boolean;
  onClose: () => void;
  /** What the button says that sends it off. */
  children: ReactNode;
}

/** What is wrong with the form as a whole, and its buttons. */
export function FormEnd({ rest, isBusy, onClose, children }: EndProps) {
  return (
    <>
      {rest.length > 0 && (
        <div role="alert" className={css.rest}>
          {rest.map((text) => (
            <p key={text}>{text}</p>
          ))}
        </div>
      )}
      <div className={css.buttons}>
        <Button variant="default" disabled={isBusy} onClick={onClose}>
          Back
        </Button>
        <BusyButton type="submit" isBusy={isBusy}>
          {children}
        </BusyButton>
      </div>
    </>
  );
}
