import type { TimelineEntry } from "@unacked/contracts";
import { useState } from "react";
import { useAnswer } from "../../live/use-answer.ts";
import { MoreButton } from "../../parts/more-button.tsx";
import plain from "../../parts/plain-table.module.css";
import { StepMark } from "../../parts/status-mark.tsx";
import { Time } from "../../parts/time.tsx";
import { Unanswered } from "../../parts/unanswered.tsx";
import css from "./timeline.module.css";

const SHOWN_AT_FIRST = 30;
const AT_MOST = 1_000;

/** What happened to it, newest first: by whom, where, why. Read again whenever it has changed. */
export function Timeline({ id, version }: { id: string; version: unknown }) {
  const [limit, setLimit] = useState(SHOWN_AT_FIRST);
  const asked = { path: { ref: id }, query: { limit } };
  const { data, failure, reload, isTurning } = useAnswer("getTimeline", asked, version);
  return (
    <section aria-labelledby="timeline-title">
      <h2 id="timeline-title" className={css.title}>
        Timeline
      </h2>
      {data === null && <Unanswered what="Its timeline" height="10rem" failure={failure} onRetry={reload} />}
      {data !== null && (
        // Focusable, as a wide one scrolls.
        <section className={`panel ${plain.panel}`} tabIndex={0} aria-label="What happened">
          <table className={`${plain.table} ${plain.lined} ${css.table} figures`}>
            <thead>
              <tr>
                <th scope="col">When</th>
                <th scope="col">What</th>
                <th scope="col">Run</th>
                <th scope="col">Where, or by whom</th>
                <th scope="col">Why</th>
              </tr>
            </thead>
            <tbody>
              {data.items.map((entry) => (
                <Row key={`${entry.at} ${entry.kind} ${entry.run?.id} ${entry.action} ${entry.attempt}`} entry={entry} />
              ))}
            </tbody>
          </table>
          <p className={css.more}>
            <MoreButton
              size="compact-sm"
              hasMore={data.nextCursor !== null && (limit < AT_MOST || isTurning)}
              isLoading={isTurning}
              onClick={() => setLimit(AT_MOST)}
            >
              Show earlier events
            </MoreButton>
          </p>
        </section>
      )}
    </section>
  );
}

function Row({ entry }: { entry: TimelineEntry }) {
  const { at, run, service, by, text } = entry;
  return (
    <tr>
      <td>
        <Time at={at} />
      </td>
      <th scope="row">
        <StepMark entry={entry} />
      </th>
      <td>{run?.runNumber}</td>
      <td>
        {service !== null && (service.name ?? "unknown")}
        {by && (service === null ? by : `, by ${by}`)}
      </td>
      <td className={css.why}>{text}</td>
    </tr>
  );
}
