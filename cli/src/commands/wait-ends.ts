import { looksLikeUuid } from "@unacked/contracts";
import { findJob } from "../client/find-job.ts";
import { CliFailure, usageFailure } from "../failure.ts";
import { jsonText } from "../output/document-text.ts";
import { plainLine } from "../output/plain-text.ts";
import type { Session } from "../session.ts";
import { eachAsked } from "./each-of.ts";
import { untilFlowCompleted } from "./flow-end.ts";
import { untilCompleted } from "./task-end.ts";

/**
 * Waits until each task or flow is over, one after the other: the last of them decides how long it takes. Ends as `run --wait` and
 * `flow create --wait` do. One that fails does not end the wait for the others.
 */
export async function waitForEnds(session: Session, ids: string[], timeoutMs: number): Promise<void> {
  const other = ids.find((id) => !looksLikeUuid(id));
  if (other !== undefined)
    throw usageFailure(
      `"${other}" is no id of a task or flow`,
      `To wait for an observer, say for which status: unacked wait ${other} --for Processing`,
    );
  const endMs = performance.now() + timeoutMs;
  await eachAsked(
    session,
    ids,
    (id) =>
      waitForEnd(session, id, { timeoutMs: Math.ceil(Math.max(0, endMs - performance.now())), isOne: ids.length === 1 }),
    "did not complete",
  );
}

async function waitForEnd(
  session: Session,
  id: string,
  { timeoutMs, isOne }: { timeoutMs: number; isOne: boolean },
): Promise<void> {
  const job = await findJob(session.api, id);
  if (job === undefined)
    throw new CliFailure("failed", `There is no task or flow ${id}`, {
      remedy: `To wait for an observer, say for which status: unacked wait ${id} --for Processing`,
    });
  if (job.kind === "flow") return untilFlowCompleted(session, job.view, timeoutMs);
  const { output } = await untilCompleted(session, job.view, timeoutMs);
  session.io.out(isOne ? `${jsonText(output, 2)}\n` : plainLine(`task ${id} is Completed`));
}
