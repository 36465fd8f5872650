import type { ScheduleView } from "@unacked/contracts";
import type { ReactNode } from "react";
import { useAnswer } from "../../live/use-answer.ts";
import { useShownNow } from "../../live/use-now.ts";
import { Blank } from "../../parts/blank.tsx";
import { type Fact, Facts } from "../../parts/facts.tsx";
import { PageHead } from "../../parts/page-head.tsx";
import { sayAway, sayCount } from "../../parts/say.ts";
import { ScheduleMark } from "../../parts/status-mark.tsx";
import { Time } from "../../parts/time.tsx";
import { Unanswered } from "../../parts/unanswered.tsx";
import { WhoDidWhat } from "../../parts/who-did-what.tsx";
import { Link } from "../../shell/navigation.tsx";
import { SCHEDULE_LOOKS, sayWhat, sayWhen } from "../../store/schedule-looks.ts";
import { Calendar } from "./calendar.tsx";
import { Occurrences } from "./occurrences.tsx";
import css from "./schedule.module.css";
import { ScheduleActions } from "./schedule-actions.tsx";

const LOOK_EVERY_MS = 2_000;

/** One schedule: what will run, and what did. */
export default function Schedule({ id }: { id: string }) {
  const nowMs = useShownNow(LOOK_EVERY_MS);
  const { data: schedule, failure, reload } = useAnswer("getSchedule", { path: { scheduleId: id } }, nowMs);
  if (failure?.code === "schedule-not-found")
    return (
      <>
        <h1>Schedule</h1>
        <Blank title="There is no such schedule">
          <p>
            <Link href="/schedules">To the schedules</Link>
          </p>
        </Blank>
      </>
    );
  if (schedule === null) return <Unanswered what="The schedule" height="20rem" failure={failure} onRetry={reload} />;
  return (
    <>
      <PageHead>
        <h1>{schedule.id}</h1>
        <ScheduleMark status={schedule.status} problem={schedule.problem} />
        <ScheduleActions schedule={schedule} onDone={reload} />
      </PageHead>
      <Facts facts={factsOf(schedule, nowMs)} />
      <Calendar schedule={schedule} nowMs={nowMs} />
      <Occurrences schedule={schedule} nowMs={nowMs} />
    </>
  );
}

function factsOf(schedule: ScheduleView, nowMs: number): Fact[] {
  const { status, problem, description, task, observers, nextAt, nextDueAt, pausedAt, pausedBy, version, updatedAt } =
    schedule;
  const { id, startAt, endAt, wantedNow } = schedule;
  const fact = (name: string, value: ReactNode, isThere = true): Fact[] => (isThere ? [[name, value]] : []);
  const time = (name: string, at: string | null): Fact[] =>
    at === null ? [] : [[name, <Time key={name} at={at} mayCome />]];
  return [
    ["Status", `${status}: ${SCHEDULE_LOOKS[status].meaning}`],
    ...fact("Problem", <strong className={css.problem}>{problem}</strong>, problem !== null),
    ...fact(
      "Paused",
      <>
        <Time at={pausedAt ?? 0} /> by {pausedBy}
      </>,
      pausedAt !== null,
    ),
    ...fact("For", description, description !== null),
    ["When", sayWhen(schedule)],
    ...fact("Not on", schedule.except?.join(", "), (schedule.except ?? []).length > 0),
    ["What", sayWhat(schedule)],
    ...fact("Wanted now", wantedNow, wantedNow !== null),
    ...fact(
      "Next",
      <>
        <Time at={nextAt ?? 0} isBare />
        {nextDueAt !== null && `, ${sayAway(Math.max(0, Date.parse(nextDueAt) - nowMs))}`}
      </>,
      nextAt !== null,
    ),
    ...time("From", startAt),
    ...time("Until", endAt),
    ...(task === null ? [] : taskFacts(schedule)),
    ...fact("Filter", <code>{JSON.stringify(observers?.filter)}</code>, observers?.filter !== undefined),
    ["Version", <Version key="version" id={id} version={version} at={updatedAt} />],
  ];
}

const Version = ({ id, version, at }: { id: string; version: number; at: string }) => (
  <>
    {sayCount(version)}, since <Time at={at} /> <WhoDidWhat kind="schedule" id={id} />
  </>
);

const OVERLAP = {
  skip: "it is left out",
  queue: "it waits until that is over",
  "cancel-running": "that one is cancelled",
  allow: "both run",
};
const CATCH_UP = { none: "is missed", latest: "only the last of it starts", all: "starts, as much as its window has" };

function taskFacts({ task, overlap, catchUp, jitterMs, running, queued, missed }: ScheduleView): Fact[] {
  return [
    ["Params", <code key="params">{JSON.stringify(task?.params)}</code>],
    ["While one runs", OVERLAP[overlap]],
    ["What was due while nobody was there", CATCH_UP[catchUp]],
    ...(jitterMs === 0 ? [] : [["Jitter", `up to ${sayCount(jitterMs)} ms`] satisfies Fact]),
    ["Just now", `${sayCount(running)} not over, ${sayCount(queued)} queued; ${sayCount(missed)} missed in all`],
  ];
}
