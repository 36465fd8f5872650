import type { ScheduleView } from "@unacked/contracts";
import table from "../../parts/plain-table.module.css";
import { sayAge } from "../../parts/say.ts";
import { OccurrenceMark, ScheduleMark } from "../../parts/status-mark.tsx";
import { Time } from "../../parts/time.tsx";
import { Link } from "../../shell/navigation.tsx";
import { addressOfSchedule } from "../../shell/route.ts";
import { sayWhat, sayWhen } from "../../store/schedule-looks.ts";
import css from "./schedules.module.css";

export function ScheduleTable({ schedules, nowMs }: { schedules: readonly ScheduleView[]; nowMs: number }) {
  return (
    // Focusable, as a wide one scrolls.
    <section className={`panel ${table.panel}`} tabIndex={0} aria-label="Schedules">
      <table className={`${table.table} ${table.lined} ${css.table}`}>
        <thead>
          <tr>
            <th scope="col">Schedule</th>
            <th scope="col">Status</th>
            <th scope="col">When</th>
            <th scope="col">What</th>
            <th scope="col">Next</th>
            <th scope="col">In</th>
            <th scope="col">Last</th>
            <th scope="col">What became of it</th>
          </tr>
        </thead>
        <tbody>
          {schedules.map((schedule) => (
            <ScheduleRow key={schedule.id} schedule={schedule} nowMs={nowMs} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

function ScheduleRow({ schedule, nowMs }: { schedule: ScheduleView; nowMs: number }) {
  const { id, status, problem, nextDueAt, lastOccurrence } = schedule;
  return (
    <tr>
      <th scope="row" className={css.name}>
        <Link href={addressOfSchedule(id)}>{id}</Link>
      </th>
      <td>
        <ScheduleMark status={status} problem={problem} />
      </td>
      <td className={css.long} title={sayWhen(schedule)}>
        <span>{sayWhen(schedule)}</span>
      </td>
      <td className={css.long} title={sayWhat(schedule)}>
        <span>{sayWhat(schedule)}</span>
      </td>
      <td className={table.folds}>{nextDueAt === null ? "–" : <Time at={nextDueAt} isBare />}</td>
      <td>{nextDueAt === null ? "–" : sayAge(Date.parse(nextDueAt) - nowMs)}</td>
      <td className={table.folds}>{lastOccurrence === null ? "–" : <Time at={lastOccurrence.at} />}</td>
      <td>{lastOccurrence === null ? "–" : <OccurrenceMark occurrence={lastOccurrence} />}</td>
    </tr>
  );
}
