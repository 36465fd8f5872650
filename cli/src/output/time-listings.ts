import { type OccurrenceView, type ScheduleView, TIMER_PROBLEM_MEANINGS, type TimerView } from "@unacked/contracts";
import type { Colour } from "./colours.ts";
import { ageOf, exactDuration, shortDuration } from "./durations.ts";
import { inState, type Listing } from "./listing.ts";
import type { Cell } from "./table.ts";
import { inWords } from "./words.ts";

export const TIMER_LISTING: Listing<TimerView> = {
  nameOf: (timer) => timer.id,
  columns: [
    { heading: "ID", cell: ({ id }) => id },
    { heading: "NAME", cell: ({ name }) => name },
    { heading: "STATUS", cell: ({ status }) => inState(status) },
    { heading: "AT", cell: ({ at }) => at },
    { heading: "RETURNS", cell: ({ returns }) => String(returns), alignsRight: true },
    {
      heading: "LAST PROBLEM",
      cell: ({ lastProblem }) => (lastProblem === null ? "" : inWords(TIMER_PROBLEM_MEANINGS, lastProblem)),
    },
    { heading: "AGE", cell: ({ createdAt }, nowMs) => ageOf(createdAt, nowMs) },
    { heading: "EXPIRES", cell: ({ expiresAt }) => expiresAt, isWide: true },
    { heading: "ENDED", cell: ({ endedAt }) => endedAt ?? "", isWide: true },
  ],
};

const whenText = ({ cron, everyMs, hours, timeZone }: ScheduleView): string => {
  if (cron !== null) return `${cron} ${timeZone}`;
  if (everyMs !== null) return `every ${exactDuration(everyMs)}`;
  const spans = (hours ?? []).map(({ days, from, to }) => `${days.length === 7 ? "" : `${days.join(",")} `}${from}-${to}`);
  return `${spans.join("; ")} ${timeZone}`;
};

const whatText = ({ task, wantedNow, observers }: ScheduleView): string =>
  task?.type ?? `observers ${observers?.wanted ?? ""}${wantedNow === null ? "" : `, now ${wantedNow}`}`;

export const SCHEDULE_LISTING: Listing<ScheduleView> = {
  nameOf: ({ id }) => id,
  columns: [
    { heading: "SCHEDULE", cell: ({ id }) => id },
    {
      heading: "STATUS",
      cell: ({ status, problem }) => (problem === null ? inState(status) : { text: "Problem", colour: "red" }),
    },
    { heading: "WHAT", cell: whatText },
    { heading: "WHEN", cell: whenText },
    { heading: "NEXT", cell: ({ nextAt }) => nextAt ?? "" },
    { heading: "LAST", cell: ({ lastOccurrence: last }) => (last === null ? "" : last.status) },
    { heading: "RUNNING", cell: ({ running }) => String(running), alignsRight: true },
    { heading: "QUEUED", cell: ({ queued }) => String(queued), alignsRight: true },
    { heading: "MISSED", cell: ({ missed }) => String(missed), alignsRight: true },
    { heading: "OVERLAP", cell: ({ task, overlap }) => (task === null ? "" : overlap), isWide: true },
    { heading: "CATCH UP", cell: ({ task, catchUp }) => (task === null ? "" : catchUp), isWide: true },
    { heading: "PAUSED BY", cell: ({ pausedBy }) => pausedBy ?? "", isWide: true },
    { heading: "PROBLEM", cell: ({ problem }) => problem ?? "", isWide: true },
    { heading: "DESCRIPTION", cell: ({ description }) => description ?? "", isWide: true },
  ],
};

const OCCURRENCE_COLOURS: Record<OccurrenceView["status"], Colour> = {
  started: "green",
  skipped: "yellow",
  queued: "blue",
  missed: "red",
};

export const OCCURRENCE_LISTING: Listing<OccurrenceView> = {
  nameOf: ({ at }) => at,
  columns: [
    { heading: "AT", cell: ({ at }) => at },
    { heading: "STATUS", cell: ({ status }) => ({ text: status, colour: OCCURRENCE_COLOURS[status] }) },
    { heading: "CAUSE", cell: ({ cause }) => cause },
    { heading: "REASON", cell: ({ reason }) => reason ?? "" },
    { heading: "TASK", cell: ({ taskId }) => taskId ?? "" },
    { heading: "IS", cell: occurrenceIs },
    { heading: "LATE", cell: ({ lateMs }) => shortDuration(lateMs), alignsRight: true },
    { heading: "BEFORE IT MISSED", cell: ({ earlierMissed }) => String(earlierMissed || ""), alignsRight: true },
    { heading: "BY", cell: ({ by }) => by ?? "" },
    { heading: "VERSION", cell: ({ version }) => String(version), isWide: true, alignsRight: true },
    { heading: "DECIDED", cell: ({ decidedAt }) => decidedAt, isWide: true },
  ],
};

function occurrenceIs({ taskStatus, observers }: OccurrenceView): string | Cell {
  if (observers !== null) return `${observers.wanted}, ${observers.changed} changed`;
  return taskStatus === null ? "" : inState(taskStatus);
}
