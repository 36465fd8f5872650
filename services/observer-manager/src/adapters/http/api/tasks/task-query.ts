import type { CALLS } from "@unacked/contracts";
import type { z } from "zod";
import { decodeTaskCursor } from "../../../../operations/cursor.ts";
import type { TaskQuery } from "../../../../operations/tasks/desk/task-store.ts";
import { HttpProblem } from "../http-problem.ts";

/** The query of GET /tasks. Throws HttpProblem for a cursor that does not decode. */
export function toTaskQuery(query: z.output<typeof CALLS.listTasks.query>): TaskQuery {
  const { status, type, pool, q, limit, cursor } = query;
  const after = cursor === undefined ? undefined : decodeTaskCursor(cursor);
  if (cursor !== undefined && after === undefined)
    throw new HttpProblem({
      code: "invalid-query",
      errors: [{ parameter: "cursor", message: "not a cursor of this list" }],
    });
  return { statuses: status, type, pool, idStart: q?.toLowerCase(), limit, after };
}

/** The `wait` of GET /tasks/{taskId}, such as `30s`, in ms. */
export const waitMsOf = (wait = "0s"): number => Number(wait.slice(0, -1)) * 1_000;
