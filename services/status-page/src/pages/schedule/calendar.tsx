import type { ScheduleView } from "@unacked/contracts";
import { useAnswer } from "../../live/use-answer.ts";
import table from "../../parts/plain-table.module.css";
import { sayCount } from "../../parts/say.ts";
import { Time } from "../../parts/time.tsx";
import { Unanswered } from "../../parts/unanswered.tsx";
import { CALENDAR_DAYS, type CalendarDay, calendarOf, dateIn, endOfCalendar, sayDay } from "../../store/calendar.ts";
import css from "./schedule.module.css";

const WIDTH = 960;
const ROW = 22;
const LABEL = 92;
/** What one call answers at most. */
const MOST = 1_000;
const IN_TABLE = 10;
const HOURS = [0, 3, 6, 9, 12, 15, 18, 21, 24];
const DAY = new Intl.DateTimeFormat(undefined, { weekday: "short", day: "numeric", month: "short", timeZone: "UTC" });

/** What will run in the next two weeks: a line a day, by the clock of the schedule's zone. */
export function Calendar({ schedule, nowMs }: { schedule: ScheduleView; nowMs: number }) {
  const { id, version, status, timeZone, wantedNow } = schedule;
  // The times themselves are told by the manager, by the clock of the zone.
  const known = dateIn(timeZone, nowMs);
  const today = known ?? new Date(nowMs).toISOString().slice(0, 10);
  const input = { path: { scheduleId: id }, query: { n: MOST, to: endOfCalendar(today) } };
  // Asked again when it has changed, and each minute, as times go by.
  const minute = Math.floor(nowMs / 60_000);
  const { data, failure, reload } = useAnswer("nextTimes", input, `${version} ${status} ${minute}`);
  if (status !== "Active") return null;
  if (data === null) return <Unanswered what="What will run" height="20rem" failure={failure} onRetry={reload} />;
  const all = calendarOf(data.times, today, wantedNow);
  // Of one that is due very often, only so many times are known.
  const lastDate = data.times.length === MOST ? data.times.at(-1)?.local.slice(0, 10) : undefined;
  const days = lastDate === undefined ? all : all.filter(({ date }) => date <= lastDate);
  return (
    <section aria-labelledby="calendar" className={css.section}>
      <h2 id="calendar">What will run</h2>
      <p className={css.note}>
        By the clock of {timeZone}.
        {known === undefined && " This browser does not know the zone: the first day is that of UTC."}
        {lastDate !== undefined && ` It is due so often that only the next ${sayCount(MOST)} times are drawn.`}
      </p>
      {/* Focusable, as a wide one scrolls. */}
      <div className={`panel ${css.calendar}`} tabIndex={0} role="group" aria-label="Calendar">
        <Drawing days={days} />
      </div>
      <Times schedule={schedule} times={data.times.slice(0, IN_TABLE)} />
    </section>
  );
}

function Drawing({ days }: { days: readonly CalendarDay[] }) {
  const height = (days.length + 1) * ROW + 6;
  const x = (part: number): number => LABEL + part * (WIDTH - LABEL - 14);
  const first = days[0]?.date ?? "";
  return (
    <svg
      viewBox={`0 0 ${WIDTH} ${height}`}
      width={WIDTH}
      height={height}
      role="img"
      aria-label={`The next ${CALENDAR_DAYS} days: ${days.map((day) => `${nameOf(day.date)} ${sayDay(day)}`).join("; ")}`}
    >
      {HOURS.map((hour) => (
        <g key={hour}>
          <line className={css.hour} x1={x(hour / 24)} x2={x(hour / 24)} y1={ROW - 4} y2={height - 4} />
          <text className={css.hourName} x={x(hour / 24)} y={12} textAnchor="middle">
            {String(hour).padStart(2, "0")}
          </text>
        </g>
      ))}
      {days.map((day, index) => {
        const y = (index + 1) * ROW;
        return (
          <g key={day.date}>
            <title>{`${nameOf(day.date)}: ${sayDay(day)}`}</title>
            <text className={css.day} x={LABEL - 10} y={y + 13} textAnchor="end" data-today={day.date === first}>
              {nameOf(day.date)}
            </text>
            <line className={css.ground} x1={x(0)} x2={x(1)} y1={y + 9} y2={y + 9} />
            {day.spans.map(({ from, to }) => (
              <rect key={from} className={css.span} x={x(from)} y={y + 3} width={x(to) - x(from)} height={12} rx={2} />
            ))}
            {day.ticks.map((tick) => (
              <rect key={tick.at} className={css.tick} x={x(tick.x) - 1} y={y + 2} width={2.5} height={14} rx={1} />
            ))}
          </g>
        );
      })}
    </svg>
  );
}

const nameOf = (date: string): string => DAY.format(Date.parse(`${date}T00:00:00Z`));

type Times = { at: string; local: string; dueAt: string; wanted: string | null }[];

/** The same as a table, by both clocks. */
function Times({ schedule: { timeZone, jitterMs, observers }, times }: { schedule: ScheduleView; times: Times }) {
  return (
    <details className={css.times}>
      <summary>The next {sayCount(times.length)} times</summary>
      <div className={`panel ${table.panel}`} tabIndex={0} role="group" aria-label="The next times">
        <table className={`${table.table} ${table.lined} ${css.timeTable}`}>
          <thead>
            <tr>
              <th scope="col">Your clock</th>
              <th scope="col">{timeZone}</th>
              {jitterMs > 0 && <th scope="col">With its jitter</th>}
              {observers !== null && <th scope="col">Observers</th>}
            </tr>
          </thead>
          <tbody>
            {times.map(({ at, local, dueAt, wanted }) => (
              <tr key={at}>
                <td>
                  <Time at={at} isBare />
                </td>
                <td>{local.replace("T", " ")}</td>
                {jitterMs > 0 && (
                  <td>
                    <Time at={dueAt} isExact isBare />
                  </td>
                )}
                {observers !== null && <td>{wanted}</td>}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}
