import type { PutScheduleAnswer, ScheduleTimes, ScheduleView } from "@unacked/contracts";
import type { UnackedApi } from "../client/api.ts";
import { asRefusal, CliFailure } from "../failure.ts";
import type { ScheduleDocument } from "../input/schedule-documents.ts";
import { plainLine } from "../output/plain-text.ts";
import { failureText } from "../report.ts";
import type { Session } from "../session.ts";
import { LostConnection } from "./lost-connection.ts";

/** Not refused: a file that was right yesterday is put again today. */
export const NO_TIMES = ", and is Over: no time of it is left, see its endAt";

/** Its next times, so many, if it were put. */
export const previewOf = (api: UnackedApi, { id, body }: ScheduleDocument, n: number): Promise<ScheduleTimes> =>
  api.call("previewSchedule", { query: { id, n }, body }, { about: `schedule ${id}` });

/** A schedule is replaced where it differs: what it does from then on. One that is refused costs the others nothing. */
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

/** So long a manager that restarts is waited for, with one there whose times are due and are not to be. */
const PAUSED_WITHIN_MS = 30_000;

/** One that was Paused when it was written down is so again, and not due. */
async function putSchedule(session: Session, { id, body, isPaused }: ScheduleDocument): Promise<PutScheduleAnswer> {
  const put = await session.api.call("putSchedule", { path: { scheduleId: id }, body });
  return isPaused === true && put.outcome === "created" ? { ...put, ...(await pauseAgain(session, id)) } : put;
}

/** The next apply finds it there, and leaves it as somebody may have wanted it since: so this one does not leave it half-way. */
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
