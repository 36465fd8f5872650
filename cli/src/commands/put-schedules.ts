import type { PutScheduleAnswer, ScheduleTimes, ScheduleView } from "@unacked/contracts";
import type { UnackedApi } from "../client/api.ts";
import { asRefusal, CliFailure } from "../failure.ts";
import type { ScheduleDocument } from "../input/schedule-documents.ts";
import { plainLine } from "../output/plain-text.ts";
import { failureText } from "../report.ts";
import type { Session } from "../session.ts";
import { LostConnection } from "./lost-connection.ts";

/** Such a schedule is not refused: a file that was right yesterday is put again today. */
export const NO_TIMES = ", and is Over: no time of it is left, see its endAt";

/** The next `n` times that the schedule would have if it were put. */
export const previewOf = (api: UnackedApi, { id, body }: ScheduleDocument, n: number): Promise<ScheduleTimes> =>
  api.call("previewSchedule", { query: { id, n }, body }, { about: `schedule ${id}` });

/**
 * Replaces each schedule that differs, which changes its future times only. A refused schedule does not hold up the others.
 */
export async function putSchedules(session: Session, schedules: ScheduleDocument[]): Promise<void> {
  const { io } = session;
  const refused: CliFailure[] = [];
  for (const schedule of schedules) {
    const { id } = schedule;
    const put = await putSchedule(session, schedule).catch(asRefusal);
    if (put instanceof CliFailure) {
      refused.push(put);
      if (schedules.length > 1) io.err(failureText(put));
      continue;
    }
    const outcome = put.outcome === "exists" ? "unchanged" : put.outcome;
    io.out(plainLine(`schedule ${id} ${outcome}${nextText(put, schedule)}`));
  }
  if (refused[0] === undefined) return;
  throw schedules.length === 1
    ? refused[0]
    : new CliFailure("failed", `${refused.length} of ${schedules.length} schedules were refused`);
}

/** How long a restarting manager is waited for, while the times of the schedule are due although it should be Paused. */
const PAUSED_WITHIN_MS = 30_000;

/** A new schedule that was Paused when it was written down is paused again, so that it is not due. */
async function putSchedule(session: Session, { id, body, isPaused }: ScheduleDocument): Promise<PutScheduleAnswer> {
  const put = await session.api.call("putSchedule", { path: { scheduleId: id }, body });
  return isPaused === true && put.outcome === "created" ? { ...put, ...(await pauseAgain(session, id)) } : put;
}

/**
 * Waits for the pause to succeed: the next apply would find the schedule there and leave it, as somebody may have wanted it so.
 */
async function pauseAgain({ api, io }: Session, scheduleId: string): Promise<ScheduleView> {
  const within = AbortSignal.timeout(PAUSED_WITHIN_MS);
  const pause = (signal: AbortSignal) => api.call("pauseSchedule", { path: { scheduleId } }, { signal });
  const paused = await new LostConnection(io).untilAnswered(pause, within);
  if (paused !== undefined) return paused;
  throw new CliFailure("unreachable", `schedule ${scheduleId} was created, but is not ${AS_IT_WAS}`, {
    remedy: `Its times are due until you pause it: unacked schedule pause ${scheduleId}`,
  });
}

const AS_IT_WAS = "Paused, as its file says";

function nextText({ nextAt, status }: PutScheduleAnswer, { isPaused = false }: ScheduleDocument): string {
  if (status === "Over") return NO_TIMES;
  if (status === "Paused") return ", and is Paused";
  const next = nextAt === null ? "" : `, next at ${nextAt}`;
  return isPaused ? `${next}; it is not ${AS_IT_WAS}` : next;
}
