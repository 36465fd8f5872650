import type { FlowView } from "@unacked/contracts";
import { CliFailure } from "../failure.ts";
import { flowLine } from "../output/flow-line.ts";
import { plainLine } from "../output/plain-text.ts";
import type { Session } from "../session.ts";
import { untilOver } from "./until-over.ts";

/** Waits until a flow is over, tells how it ended, and fails unless it is Completed. @param flow as it was last seen */
export async function untilFlowCompleted(session: Session, flow: FlowView, timeoutMs: number): Promise<void> {
  const { id } = flow;
  const over = await untilOver(session, flow, {
    look: (wait, signal) => session.api.call("getFlow", { path: { flowId: id }, query: { wait } }, { signal }),
    isOver: ({ status }) => status !== "Running",
    timeoutMs,
    unfinished: () => ({
      message: `flow ${id} still runs`,
      remedy: `It goes on. See: unacked flow show ${id}; to wait on: unacked wait ${id}; to end it: unacked flow cancel ${id}`,
    }),
  });
  session.io.out(plainLine(flowLine(over)));
  if (over.status !== "Completed")
    throw new CliFailure("failed", `flow ${id} is ${over.status}: ${over.reason ?? ""}`, {
      remedy: `See: unacked flow show ${id}`,
    });
}
