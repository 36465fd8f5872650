import type { TaskView } from "@unacked/contracts";
import { waitOf } from "../../../../domain/tasks/task-limits.ts";
import type { NewTask } from "../../../../operations/tasks/creations/new-task.ts";
import type { TaskStandings } from "../views/task-standings.ts";
import type { FreshRow, Times } from "./task-insert-statements.ts";

/** Shows it as the insert left it: reading ten thousand rows back takes longer than writing them. */
export function viewOfNew(
  { id, type, params, pool, priority, startAt, maxAttempts, key, parentId }: NewTask,
  { status, sendId }: Pick<FreshRow, "status" | "sendId">,
  standings: TaskStandings,
  times: Times,
): TaskView {
  return {
    id,
    type,
    params,
    pool,
    key: key ?? null,
    priority,
    status,
    waitsFor: waitOf(status, standings.of({ pool, type })),
    cancelling: false,
    cancelled: null,
    runsAgain: false,
    dueAt: new Date(startAt ?? times.dueAt).toISOString(),
    maxAttempts: maxAttempts ?? null,
    failures: 0,
    interruptions: 0,
    sends: sendId === null ? 0 : 1,
    postpones: 0,
    postponedFor: null,
    service: null,
    taken: null,
    startedAt: null,
    endedAt: null,
    output: null,
    completedBy: null,
    lastError: null,
    flow: null,
    parentId: parentId ?? null,
    createdAt: times.createdAt.toISOString(),
  };
}
