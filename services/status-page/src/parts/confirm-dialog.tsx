import { Button, Modal } from "@mantine/core";
import { type ReactNode, useState } from "react";
import css from "./confirm-dialog.module.css";

interface Props {
  title: string;
  verb: string;
  isDangerous: boolean;
  onConfirm: () => Promise<void>;
  onClose: () => void;
  children: ReactNode;
}

/** Asks before something that cannot be taken back. The way out is focused first. */
export function ConfirmDialog({ title, verb, isDangerous, onConfirm, onClose, children }: Props) {
  const [isBusy, setBusy] = useState(false);
  const confirm = () => {
    setBusy(true);
    void onConfirm().finally(() => setBusy(false));
  };
  return (
    <Modal opened onClose={onClose} title={title} withCloseButton={false} size="md">
      <div className={css.text}>{children}</div>
      <div className={css.buttons}>
        <Button variant="default" data-autofocus onClick={onClose}>
          Cancel
        </Button>
        <Button color={isDangerous ? "red" : undefined} loading={isBusy} onClick={confirm}>
          {verb}
        </Button>
      </div>
    </Modal>
  );
}
