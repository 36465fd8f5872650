import type { FlowView } from "@unacked/contracts";
import { useState } from "react";
import { ActionButton } from "../../parts/action-button.tsx";
import { ConfirmDialog } from "../../parts/confirm-dialog.tsx";
import { PageActions } from "../../parts/page-head.tsx";
import { useNotices } from "../../shell/notices.tsx";
import { canCancelFlow, canRerunFlow } from "../../store/flow-looks.ts";
import { call } from "../../wire/call.ts";
import { RerunDialog } from "./rerun-dialog.tsx";

export function FlowActions({ flow, onDone }: { flow: FlowView; onDone: () => void }) {
  const [asked, setAsked] = useState<"cancel" | "rerun" | null>(null);
  const { say } = useNotices();
  const close = () => setAsked(null);
  const done = () => {
    close();
    onDone();
  };
  const cancel = async () => {
    await call("cancelFlow", { path: { flowId: flow.id } });
    say("done", "The flow is being cancelled.");
    done();
  };
  return (
    <PageActions>
      {canCancelFlow(flow) && (
        <ActionButton call="cancelFlow" size="compact-md" variant="default" onClick={() => setAsked("cancel")}>
          Cancel it whole
        </ActionButton>
      )}
      {canRerunFlow(flow) && flow.status !== "Completed" && (
        <ActionButton call="rerunFlow" size="compact-md" variant="default" onClick={() => setAsked("rerun")}>
          Run again what did not complete
        </ActionButton>
      )}
      {asked === "rerun" && <RerunDialog flow={flow} from={null} onClose={close} onDone={done} />}
      {asked === "cancel" && (
        <ConfirmDialog title="Cancel it whole?" verb="Cancel it whole" isDangerous onConfirm={cancel} onClose={close}>
          <p>What has not begun never runs; running handlers are told to end. What is done stays done.</p>
        </ConfirmDialog>
      )}
    </PageActions>
  );
}
