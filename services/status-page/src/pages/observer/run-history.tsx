import type { ObserverView, RunView } from "@unacked/contracts";
import { useState } from "react";
import { useAnswer } from "../../live/use-answer.ts";
import { useNow } from "../../live/use-now.ts";
import { Blank } from "../../parts/blank.tsx";
import { MoreButton } from "../../parts/more-button.tsx";
import plain from "../../parts/plain-table.module.css";
import { sayAge, sayCount, sayMany } from "../../parts/say.ts";
import { Stack } from "../../parts/stack.tsx";
import { Time } from "../../parts/time.tsx";
import { END_REASONS, INTERRUPTED } from "../../store/end-reasons.ts";
import { noRunOf } from "../../store/no-run.ts";
import type { Tone } from "../../store/statuses.ts";
import { marksOf, timeLineOf } from "../../store/time-line.ts";
import css from "./run-history.module.css";

const SHOWN_AT_FIRST = 20;

/** So many of what happened within the runs are looked at. */
const MARKED = 500;

interface Props {
  observer: ObserverView;
  runs: RunView[];
  total: number;
  /** Changes when something may have happened. */
  version: unknown;
}

/** Its runs, newest first: on which service, from when to when, why each ended. */
export function RunHistory({ observer, runs, total, version }: Props) {
  const nowMs = useNow(1_000);
  const [shown, setShown] = useState(SHOWN_AT_FIRST);
  const { data } = useAnswer("getTimeline", { path: { ref: observer.id }, query: { limit: MARKED } }, version);
  if (runs.length === 0) {
    const { title, text } = noRunOf(observer);
    return (
      <div className="panel">
        <Blank title={title}>
          <p>{text}</p>
        </Blank>
      </div>
    );
  }
  const { bars, ...line } = timeLineOf(runs.slice(0, shown), nowMs);
  const { startMs, endMs } = line;
  const marks = marksOf(data?.items ?? [], line);
  return (
    <div className={`panel ${plain.panel}`}>
      <table className={`${plain.table} ${plain.lined} ${css.table} figures`}>
        <thead>
          <tr>
            <th scope="col">Run</th>
            <th scope="col">Service</th>
            <th scope="col">Started</th>
            <th scope="col" className={css.duration}>
              Lasted
            </th>
            <th scope="col">Ended</th>
            <th scope="col" className={css.lineHead}>
              <Time at={startMs} isBare /> <span>{endMs >= nowMs ? "now" : <Time at={endMs} isBare />}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {bars.map(({ run, from, to }) => (
            <tr key={run.id}>
              <th scope="row">{sayCount(run.runNumber)}</th>
              <td className={css.service}>{run.service.name ?? "unknown"}</td>
              <td>
                <Time at={run.startedAt} />
              </td>
              <td className={css.duration}>{sayAge(msOf(run, nowMs))}</td>
              <td>
                <Ending run={run} />
              </td>
              <td className={css.line} aria-hidden="true">
                <span
                  className={css.bar}
                  data-tone={toneOf(run)}
                  style={{ left: `${from * 100}%`, width: `${(to - from) * 100}%` }}
                />
                {marks.get(run.id)?.map(({ kind, at }) => (
                  <span key={`${kind} ${at}`} className={css.mark} data-kind={kind} style={{ left: `${at * 100}%` }} />
                ))}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {runs.length > SHOWN_AT_FIRST && (
        <p className={css.more}>
          <MoreButton
            size="compact-sm"
            hasMore={runs.length > shown}
            isLoading={false}
            onClick={() => setShown(runs.length)}
          >
            Show all {sayMany(runs.length, "run")}
          </MoreButton>
        </p>
      )}
      {marks.size > 0 && (
        <p className={css.legend} aria-hidden="true">
          <span className={css.mark} data-kind="attempt-failed" /> an attempt failed
          <span className={css.mark} data-kind="silent" /> silent
          <span className={css.mark} data-kind="heard" /> heard again
        </p>
      )}
      {total > runs.length && <p className={css.more}>{sayMany(total - runs.length, "older run")} are not shown.</p>}
    </div>
  );
}

const msOf = (run: RunView, nowMs: number): number =>
  Math.max(0, (run.endedAt === null ? nowMs : Date.parse(run.endedAt)) - Date.parse(run.startedAt));

function toneOf({ endReason, interruption }: RunView): Tone {
  if (endReason === null) return "good";
  return interruption === null ? END_REASONS[endReason].tone : INTERRUPTED.tone;
}

/** Of a run that has not ended. */
const STANDING: Record<RunView["state"], string> = {
  Requested: "waits for admission",
  Current: "runs",
  Superseded: "–",
  Ended: "–",
};

function Ending({ run }: { run: RunView }) {
  if (run.endReason === null) return <span className={css.running}>{STANDING[run.state]}</span>;
  const { meaning } = run.interruption === null ? END_REASONS[run.endReason] : INTERRUPTED;
  const tone = toneOf(run);
  const error = run.error === null ? (run.interruption ?? "") : `${run.error.name}: ${run.error.message}`;
  return (
    <>
      <span data-tone={tone} className={css.reason} title={error || run.endReason}>
        {meaning}
        {error !== "" && <span className={css.error}>{error}</span>}
      </span>
      <Stack of={error} stack={run.error?.stack} />
    </>
  );
}
