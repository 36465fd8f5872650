import { Textarea } from "@mantine/core";
import { type CheckpointView, checkpointTag, type ObserverView } from "@unacked/contracts";
import { useState } from "react";
import { jsonOf } from "../../form/json-of.ts";
import { ActionButton } from "../../parts/action-button.tsx";
import { ConfirmDialog } from "../../parts/confirm-dialog.tsx";
import { useNotices } from "../../shell/notices.tsx";
import { CallError, call } from "../../wire/call.ts";
import { restOf } from "../../wire/say-failure.ts";

interface Props {
  observer: ObserverView;
  checkpoint: CheckpointView;
  onDone: () => void;
}

/** What its next run starts with, set by hand; its type says what it takes. */
export function EditCheckpoint(props: Props) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <ActionButton call="putCheckpoint" size="compact-sm" variant="default" onClick={() => setOpen(true)}>
        Edit checkpoint
      </ActionButton>
      {isOpen && <EditDialog {...props} onClose={() => setOpen(false)} />}
    </>
  );
}

function EditDialog({ observer, checkpoint, onDone, onClose }: Props & { onClose: () => void }) {
  // The one that is shown may be another meanwhile.
  const [{ value, ...seen }] = useState(checkpoint);
  const [text, setText] = useState(value === null ? "" : JSON.stringify(value, null, 2));
  const [flaw, setFlaw] = useState<string | null>(null);
  const { say } = useNotices();
  const save = async () => {
    const read = jsonOf(text);
    if ("error" in read) {
      setFlaw(read.error);
      throw new Error("Nothing was sent.");
    }
    try {
      const body = { value: read.value };
      await call("putCheckpoint", { path: { ref: observer.id }, body, ifMatch: checkpointTag(seen) });
    } catch (error) {
      if (error instanceof CallError)
        setFlaw(error.fieldErrors.map(({ pointer, message }) => `${pointer ?? ""}: ${message}`).join("; ") || null);
      throw restOf(error, () => true);
    }
    say("done", `The checkpoint of ${observer.name} was set.`);
    onDone();
    onClose();
  };
  return (
    <ConfirmDialog
      title={`Edit the checkpoint of ${observer.name}`}
      verb="Set it"
      isDangerous={false}
      onConfirm={save}
      onClose={onClose}
    >
      <Textarea
        data-autofocus
        label="Checkpoint"
        description="As JSON; its next run starts with that. The one before is kept."
        autosize
        minRows={4}
        maxRows={16}
        spellCheck={false}
        value={text}
        error={flaw}
        onChange={(event) => {
          setText(event.currentTarget.value);
          setFlaw(null);
        }}
      />
    </ConfirmDialog>
  );
}
