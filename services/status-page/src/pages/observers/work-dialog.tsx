import { Checkbox } from "@mantine/core";
import { newUuid, type WorkId } from "@unacked/contracts";
import { type ReactNode, useState } from "react";
import { ConfirmDialog } from "../../parts/confirm-dialog.tsx";
import { sayMany } from "../../parts/say.ts";
import { navigate } from "../../shell/navigation.tsx";
import { addressOfWork } from "../../shell/route.ts";
import type { Action } from "../../store/statuses.ts";
import { actOf, type Wish } from "../../store/work-looks.ts";
import { call } from "../../wire/call.ts";

interface Props {
  action: Action;
  wish: Wish;
  /** How many it is asked of now. */
  count: number;
  verb: string;
  isDangerous: boolean;
  onClose: () => void;
  children: ReactNode;
}

/** Begins work on all that match, and goes to its page. Its id is made once: a second press after a lost answer begins no second one. */
export function WorkDialog({ action, wish, count, verb, isDangerous, onClose, children }: Props) {
  const [id] = useState(() => newUuid() as WorkId); // newWorkId would bring all of zod with it
  const [mayWait, setMayWait] = useState(false);
  const begin = async () => {
    const whenFull = mayWait ? ("queue" as const) : ("reject" as const);
    await call("beginWork", { body: { id, ...actOf(action), ...wish, whenFull } });
    onClose();
    navigate(addressOfWork(id));
  };
  return (
    <ConfirmDialog
      title={`${verb} all that match${action === "force-stop" ? " and need it" : ""}, ${sayMany(count, "observer")} now?`}
      verb={verb}
      isDangerous={isDangerous}
      onConfirm={begin}
      onClose={onClose}
    >
      {children}
      <p>
        The manager does it step by step, also when this page is closed. It leaves alone what no longer matches when its turn
        comes.
      </p>
      {action === "resume" && (
        <Checkbox
          label="Where no worker is free, let them wait for one"
          checked={mayWait}
          onChange={(event) => setMayWait(event.currentTarget.checked)}
        />
      )}
    </ConfirmDialog>
  );
}
