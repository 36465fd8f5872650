import type { TaskView } from "@unacked/contracts";
import { useState } from "react";
import { ActionButton } from "../../parts/action-button.tsx";
import { ConfirmDialog } from "../../parts/confirm-dialog.tsx";
import { PageActions } from "../../parts/page-head.tsx";
import { useNotices } from "../../shell/notices.tsx";
import { canCancel, canRetry, canTakeBack } from "../../store/task-looks.ts";
import { call } from "../../wire/call.ts";
import { EditDialog } from "./edit-dialog.tsx";

const ACTIONS = {
  retryTask: {
    verb: "Run it again",
    done: "is due now",
    text: "It is due at once, with all its attempts. What it did before is not taken back.",
  },
  cancelTask: {
    verb: "Cancel it",
    done: "is being cancelled",
    text: "What has not begun never runs; a running handler is told to end.",
  },
  takeBackTask: {
    verb: "Take it back",
    done: "is taken back",
    text: "Another may have it at once, as if the lease were over: an interruption, of which the third is its end. Whoever has it now should be dead: what it still says of it is refused.",
  },
} as const;

export function TaskActions({ task, onDone }: { task: TaskView; onDone: () => void }) {
  const [asked, setAsked] = useState<keyof typeof ACTIONS | null>(null);
  const [isEdited, setEdited] = useState(false);
  const { say } = useNotices();
  const possible = [
    ...(canRetry(task) ? (["retryTask"] as const) : []),
    ...(canCancel(task) ? (["cancelTask"] as const) : []),
    ...(canTakeBack(task) ? (["takeBackTask"] as const) : []),
  ];
  const run = async (action: keyof typeof ACTIONS) => {
    await call(action, { path: { taskId: task.id } });
    say("done", `The task ${ACTIONS[action].done}.`);
    setAsked(null);
    onDone();
  };
  return (
    <PageActions>
      {possible.map((action) => (
        <ActionButton key={action} call={action} size="compact-md" variant="default" onClick={() => setAsked(action)}>
          {ACTIONS[action].verb}
        </ActionButton>
      ))}
      {canRetry(task) && (
        <ActionButton call="retryTaskWith" size="compact-md" variant="default" onClick={() => setEdited(true)}>
          Run it with other params
        </ActionButton>
      )}
      {isEdited && (
        <EditDialog
          task={task}
          onClose={(hasChanged) => {
            setEdited(false);
            if (hasChanged) onDone();
          }}
        />
      )}
      {asked !== null && (
        <ConfirmDialog
          title={`${ACTIONS[asked].verb}?`}
          verb={ACTIONS[asked].verb}
          isDangerous={asked !== "retryTask"}
          onConfirm={() => run(asked)}
          onClose={() => setAsked(null)}
        >
          <p>{ACTIONS[asked].text}</p>
        </ConfirmDialog>
      )}
    </PageActions>
  );
}
