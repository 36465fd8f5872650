import { type FlowView, looksLikeUuid, type TaskView } from "@unacked/contracts";
import { noneIf } from "../failure.ts";
import type { Caller } from "./caller.ts";

/** What ends by itself. */
export type Job = { kind: "task"; view: TaskView } | { kind: "flow"; view: FlowView };

/** The task or flow with this id; undefined if there is none. */
export async function findJob(api: Caller, id: string): Promise<Job | undefined> {
  if (!looksLikeUuid(id)) return undefined;
  const task = await api.call("getTask", { path: { taskId: id } }).catch(noneIf("task-not-found"));
  if (task !== undefined) return { kind: "task", view: task };
  const flow = await api.call("getFlow", { path: { flowId: id } }).catch(noneIf("flow-not-found"));
  return flow && { kind: "flow", view: flow };
}
