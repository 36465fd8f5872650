import type { OccurrenceView, ScheduleView } from "@unacked/contracts";
import { useState } from "react";
import { useAnswer } from "../../live/use-answer.ts";
import { MoreButton } from "../../parts/more-button.tsx";
import table from "../../parts/plain-table.module.css";
import { sayCount, sayDuration, sayMany } from "../../parts/say.ts";
import { OccurrenceMark } from "../../parts/status-mark.tsx";
import { Time } from "../../parts/time.tsx";
import { Unanswered } from "../../parts/unanswered.tsx";
import { Link } from "../../shell/navigation.tsx";
import { addressOfTask } from "../../shell/route.ts";
import { looksOfOccurrence, REASONS } from "../../store/schedule-looks.ts";
import css from "./schedule.module.css";

const IN_STRIP = 100;
const FIRST = 20;
const CELL = 9;
const GAP = 2;
const HEIGHT = 24;

/** What did run, and what became of it: a strip of the last hundred, and all of them in words. */
export function Occurrences({ schedule: { id }, nowMs }: { schedule: ScheduleView; nowMs: number }) {
  const [shown, setShown] = useState(FIRST);
  const { data, failure, reload } = useAnswer(
    "listOccurrences",
    { path: { scheduleId: id }, query: { limit: IN_STRIP } },
    nowMs,
  );
  return (
    <section aria-labelledby="occurrences" className={css.section}>
      <h2 id="occurrences">What became of it</h2>
      {data === null && <Unanswered what="What became of it" height="10rem" failure={failure} onRetry={reload} />}
      {data !== null && data.items.length === 0 && <p className={css.note}>It has not been due yet.</p>}
      {data !== null && data.items.length > 0 && (
        <>
          <Strip occurrences={data.items.toReversed()} />
          {/* Focusable, as a wide one scrolls. */}
          <div className={`panel ${table.panel}`} tabIndex={0} role="group" aria-label="Occurrences">
            <table className={`${table.table} ${table.lined} ${css.table}`}>
              <thead>
                <tr>
                  <th scope="col">Time</th>
                  <th scope="col">What became of it</th>
                  <th scope="col">Why</th>
                  <th scope="col">Task</th>
                  <th scope="col">Cause</th>
                  <th scope="col">Late by</th>
                </tr>
              </thead>
              <tbody>
                {data.items.slice(0, shown).map((occurrence) => (
                  <Row key={occurrence.at} occurrence={occurrence} />
                ))}
              </tbody>
            </table>
          </div>
          <MoreButton mt="xs" hasMore={data.items.length > shown} isLoading={false} onClick={() => setShown(IN_STRIP)}>
            Show {sayCount(data.items.length)}
          </MoreButton>
        </>
      )}
    </section>
  );
}

/** The oldest on the left. What did not start is drawn lower: nobody depends on colours. */
function Strip({ occurrences }: { occurrences: readonly OccurrenceView[] }) {
  const width = occurrences.length * (CELL + GAP);
  return (
    <div className={css.strip} tabIndex={0} role="group" aria-label="The last occurrences">
      <svg viewBox={`0 0 ${width} ${HEIGHT}`} width={width} height={HEIGHT} role="img" aria-label={sayStrip(occurrences)}>
        {occurrences.map((occurrence, index) => {
          const { tone, text, meaning } = looksOfOccurrence(occurrence);
          const isWhole = occurrence.status === "started";
          const y = isWhole ? 2 : HEIGHT / 2;
          return (
            <rect
              key={occurrence.at}
              data-tone={tone}
              x={index * (CELL + GAP)}
              y={y}
              width={CELL}
              height={HEIGHT - 2 - y}
              rx={2}
            >
              <title>{`${occurrence.at}: ${text}, ${meaning}`}</title>
            </rect>
          );
        })}
      </svg>
    </div>
  );
}

function sayStrip(occurrences: readonly OccurrenceView[]): string {
  const counts = new Map<string, number>();
  for (const occurrence of occurrences) {
    const { text } = looksOfOccurrence(occurrence);
    counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  return `The last ${sayMany(occurrences.length, "time")}: ${[...counts].map(([text, count]) => `${sayCount(count)} ${text}`).join(", ")}`;
}

const CAUSES: Record<OccurrenceView["cause"], string> = {
  time: "it was due",
  "catch-up": "caught up",
  manual: "by hand",
  backfill: "backfill",
};

function Row({ occurrence }: { occurrence: OccurrenceView }) {
  const { at, taskId, cause, by, lateMs, earlierMissed, observers } = occurrence;
  return (
    <tr>
      <td>
        <Time at={at} />
      </td>
      <td>
        <OccurrenceMark occurrence={occurrence} />
      </td>
      <td className={css.why}>
        {occurrence.reason === null ? "" : REASONS[occurrence.reason]}
        {earlierMissed > 0 && ` (and ${sayCount(earlierMissed)} before it)`}
        {observers !== null && `${sayMany(observers.changed, "observer")} changed`}
      </td>
      <td>{taskId === null ? "–" : <Link href={addressOfTask(taskId)}>its task</Link>}</td>
      <td>
        {CAUSES[cause]}
        {by === null ? "" : `: ${by}`}
      </td>
      <td>{sayDuration(lateMs)}</td>
    </tr>
  );
}
