import type { CreateFlow, FlowId, FlowPage, FlowTaskPage, FlowView, RerunFlow } from "@unacked/contracts";
import type { Actor } from "../../domain/access/identity.ts";
import type { Refusal } from "../refusal.ts";
import type { FlowQuery } from "./flow-store.ts";

/** What REST asks of flows. Each answer is given after the commit, and who did it stands in the audit trail by the same transaction. */
export interface FlowTools {
  /** All of it, or nothing. Problems: invalid-body (+ errors), unknown-type (+ knownTypes), id-taken, flows-not-known. */
  createFlow(asked: CreateFlow, by: Actor): Promise<{ kind: "created" | "exists"; flow: FlowView } | Refusal>;
  listFlows(query: FlowQuery): Promise<FlowPage>;
  /** @param waitMs answers when it is over, or then at the latest; @param gone nobody is there any more to be answered */
  findFlow(id: FlowId, waitMs: number, gone: AbortSignal): Promise<FlowView | undefined>;
  listFlowTasks(
    id: FlowId,
    asked: { fromPlace: number; limit: number; withOutputs: boolean },
  ): Promise<FlowTaskPage | undefined>;
  /** Problems: flow-not-found, flow-over. */
  cancelFlow(id: FlowId, by: Actor): Promise<{ kind: "accepted"; flow: FlowView } | Refusal>;
  /** Problems: flow-not-found, flow-running, flow-not-rerunnable, flows-not-known. */
  rerunFlow(id: FlowId, asked: RerunFlow, by: Actor): Promise<{ kind: "accepted"; flow: FlowView } | Refusal>;
}
