import type { FlowView } from "@unacked/contracts";
import { ConfirmDialog } from "../../parts/confirm-dialog.tsx";
import { useNotices } from "../../shell/notices.tsx";
import { call } from "../../wire/call.ts";

interface Props {
  flow: FlowView;
  /** The ref of a task; null: all that did not complete. */
  from: string | null;
  onClose: () => void;
  onDone: () => void;
}

export function RerunDialog({ flow, from, onClose, onDone }: Props) {
  const { say } = useNotices();
  const rerun = async () => {
    await call("rerunFlow", { path: { flowId: flow.id }, body: from === null ? {} : { from } });
    say("done", "The flow runs again.");
    onDone();
  };
  return (
    <ConfirmDialog title="Run it again?" verb="Run it again" isDangerous={false} onConfirm={rerun} onClose={onClose}>
      <p>
        {from === null
          ? "All that did not complete runs again, with what comes after it."
          : `“${from}” and all that comes after it run again.`}{" "}
        The results of the others are kept, and are its inputs. What was done before is not taken back.
      </p>
    </ConfirmDialog>
  );
}
