import { Button, Modal } from "@mantine/core";
import { type FormEvent, type ReactNode, useState } from "react";
import { sayFailure } from "../wire/say-failure.ts";
import { BusyButton } from "./busy-button.tsx";
import css from "./confirm-dialog.module.css";
import { useFocusBack } from "./use-focus-back.ts";

interface Props {
  title: string;
  verb: string;
  isDangerous: boolean;
  /** When it rejects, the reason is told here, and one may try again. */
  onConfirm: () => Promise<void>;
  onClose: () => void;
  children: ReactNode;
}

/**
 * Asks before something that cannot be taken back, or for what it needs. The way out is focused first, or the field with `data-autofocus`, in which Enter
 * confirms. While its call is under way, which ends by itself, nobody leaves it: they would not be told what became of that.
 */
export function ConfirmDialog({ title, verb, isDangerous, onConfirm, onClose, children }: Props) {
  useFocusBack();
  const [isBusy, setBusy] = useState(false);
  const [refusal, setRefusal] = useState<string | null>(null);
  const confirm = (event: FormEvent) => {
    event.preventDefault();
    if (isBusy) return;
    setBusy(true);
    setRefusal(null);
    void onConfirm()
      .catch((error: unknown) => setRefusal(sayFailure(error)))
      .finally(() => setBusy(false));
  };
  return (
    <Modal opened onClose={() => !isBusy && onClose()} title={title} withCloseButton={false} size="md">
      <form noValidate onSubmit={confirm}>
        <div className={css.text}>{children}</div>
        <div className={css.foot}>
          {refusal !== null && (
            <p role="alert" className={css.refusal}>
              {refusal}
            </p>
          )}
          <div className={css.buttons}>
            <Button variant="default" data-autofocus disabled={isBusy} onClick={onClose}>
              Back
            </Button>
            <BusyButton type="submit" color={isDangerous ? "red" : undefined} isBusy={isBusy}>
              {verb}
            </BusyButton>
          </div>
        </div>
      </form>
    </Modal>
  );
}
