import { isTaskOver, type TaskView } from "@unacked/contracts";
import { CliFailure } from "../failure.ts";
import { errorLine } from "../output/errors.ts";
import type { Session } from "../session.ts";
import { untilOver } from "./until-over.ts";

/** Waits until a task is over, and fails unless it is Completed. @param task as it was last seen */
export async function untilCompleted(session: Session, task: TaskView, timeoutMs: number): Promise<TaskView> {
  const { id } = task;
  const over = await untilOver(session, task, {
    look: (wait, signal) => session.api.call("getTask", { path: { taskId: id }, query: { wait } }, { signal }),
    isOver: ({ status }) => isTaskOver(status),
    timeoutMs,
    unfinished: ({ status, waitsFor }) => ({
      message: `task ${id} is still ${status}${waitsFor === null ? "" : `, and waits for: ${waitsFor}`}`,
      remedy: `It goes on. See: unacked describe task ${id}; to wait on: unacked wait ${id}; to end it: unacked cancel ${id}`,
    }),
  });
  if (over.status === "Completed") return over;
  const why = over.lastError === null ? "" : `: ${errorLine(over.lastError)}`;
  throw new CliFailure("failed", `task ${id} is ${over.status}${why}`, { remedy: `See: unacked describe task ${id}` });
}
