import type { FlowView } from "@unacked/contracts";

/** The flow is Failed, or somebody has cancelled it: `flow.status` and `flow.reason` say which, and why. */
export class FlowNotCompleted extends Error {
  override readonly name = "FlowNotCompleted";
  readonly flow: FlowView;

  constructor(flow: FlowView) {
    super(`flow ${flow.id} is ${flow.status}${flow.reason === null ? "" : `: ${flow.reason}`}`);
    this.flow = flow;
  }
}

/**
 * `timeoutMs` is over while the flow goes on, or the flow is over, but the outputs of its tasks were not read in time. `flow` is how it was
 * last seen, if it was.
 */
export class FlowNotOver extends Error {
  override readonly name = "FlowNotOver";
  readonly flow: FlowView | undefined;

  constructor(id: string, flow: FlowView | undefined, timeoutMs: number, cause: unknown) {
    const isUnread = flow?.status === "Completed";
    const how = isUnread ? "is Completed, and what its tasks returned was not read" : "is not over";
    super(`flow ${id} ${how} after ${timeoutMs} ms`, cause === undefined ? {} : { cause });
    this.flow = flow;
  }
}
