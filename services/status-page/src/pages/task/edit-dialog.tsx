import { Textarea } from "@mantine/core";
import type { TaskView } from "@unacked/contracts";
import { useState } from "react";
import { ConfirmDialog } from "../../parts/confirm-dialog.tsx";
import { useNotices } from "../../shell/notices.tsx";
import { paramsOf, sayFlaws } from "../../store/params-text.ts";
import { CallError, call } from "../../wire/call.ts";
import { restOf } from "../../wire/say-failure.ts";
import css from "./task.module.css";

/** Runs a task again with other params. What its type does not take is said at the field, by the manager. */
export function EditDialog({ task, onClose }: { task: TaskView; onClose: (hasChanged: boolean) => void }) {
  const [text, setText] = useState(() => JSON.stringify(task.params, null, 2));
  const [flaw, setFlaw] = useState<string | null>(null);
  const { say } = useNotices();
  const save = async () => {
    const read = paramsOf(text);
    if ("flaw" in read) {
      setFlaw(read.flaw);
      throw new Error("The params cannot be read.");
    }
    try {
      await call("retryTaskWith", { path: { taskId: task.id }, body: { params: read.params } });
    } catch (error) {
      if (error instanceof CallError && error.fieldErrors.length > 0) setFlaw(sayFlaws(error.fieldErrors));
      throw restOf(error, () => true);
    }
    say("done", "The task is due now, with the new params.");
    onClose(true);
  };
  return (
    <ConfirmDialog
      title="Run it again with other params"
      verb="Run it again"
      isDangerous={false}
      onConfirm={save}
      onClose={() => onClose(false)}
    >
      <Textarea
        data-autofocus
        label="Params"
        description="As JSON. Its story keeps who changed them, and what they were."
        value={text}
        error={flaw}
        autosize
        minRows={6}
        maxRows={18}
        spellCheck={false}
        classNames={{ input: css.typed ?? "", error: css.flaw ?? "" }}
        onChange={(event) => {
          setText(event.currentTarget.value);
          setFlaw(null);
        }}
      />
    </ConfirmDialog>
  );
}
