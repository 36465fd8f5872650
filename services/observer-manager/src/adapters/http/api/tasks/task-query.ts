import { type CALLS, isTaskOver } from "@unacked/contracts";
import type { z } from "zod";
import { decodeTaskCursor } from "../../../../operations/cursor.ts";
import type { TaskQuery } from "../../../../operations/tasks/desk/task-store.ts";
import { HttpProblem } from "../http-problem.ts";

/** The query of GET /tasks. Throws HttpProblem for a cursor that does not decode, and for tasks of a service that are over. */
export function toTaskQuery(query: z.output<typeof CALLS.listTasks.query>): TaskQuery {
  const { status, type, service, pool, q, limit, cursor } = query;
  const after = cursor === undefined ? undefined : decodeTaskCursor(cursor);
  if (cursor !== undefined && after === undefined)
    throw new HttpProblem({
      code: "invalid-query",
      errors: [{ parameter: "cursor", message: "not a cursor of this list" }],
    });
  if (service !== undefined && status?.some(isTaskOver) === true) throw overOnService();
  return { statuses: status, type, service, pool, idStart: q?.toLowerCase(), limit, after };
}

/** An empty page would say that none has failed there. */
function overOnService(): HttpProblem {
  return new HttpProblem({
    code: "invalid-query",
    detail: "Tasks that are over are not listed by service: a task is on one only while it runs",
    remedy: "Leave out `service`, or ask for those that run. Where a task ran last stands in its `service`.",
    errors: [{ parameter: "status", message: "beside `service` only of tasks that are not over" }],
  });
}

/** The `wait` of GET /tasks/{taskId}, such as `30s`, in ms. */
export const waitMsOf = (wait = "0s"): number => Number(wait.slice(0, -1)) * 1_000;
