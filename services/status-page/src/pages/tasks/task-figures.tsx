import type { TaskFiguresNow, TaskTypeFigures } from "@unacked/contracts";
import { useState } from "react";
import { useAnswer } from "../../live/use-answer.ts";
import { useShownNow } from "../../live/use-now.ts";
import { Failure } from "../../parts/failure.tsx";
import table from "../../parts/plain-table.module.css";
import { sayAge, sayCount, sayDuration, sayMany } from "../../parts/say.ts";
import { Link } from "../../shell/navigation.tsx";
import { addressOfTasks } from "../../store/task-filter.ts";
import { FigureBars } from "./figure-bars.tsx";
import css from "./figures.module.css";

const LOOK_EVERY_MS = 5_000;
const BY = ["minute", "hour"] as const;
type By = (typeof BY)[number];

/** How each type goes: throughput, what waits, running times, load. */
export function TaskFigures() {
  const [by, setBy] = useState<By>("minute");
  const nowMs = useShownNow(LOOK_EVERY_MS);
  const { data, failure, reload } = useAnswer("listTaskFigures", { query: { by } }, nowMs);
  if (data !== null && data.items.length === 0) return null;
  return (
    <section className={css.section} aria-labelledby="figures">
      <div className={css.head}>
        <h2 id="figures">How it goes</h2>
        <fieldset className={css.by}>
          <legend className="unseen">What a bar is</legend>
          {BY.map((value) => (
            <label key={value}>
              <input type="radio" name="figures-by" checked={value === by} onChange={() => setBy(value)} /> by {value}
            </label>
          ))}
        </fieldset>
      </div>
      {data === null && failure !== null && <Failure what="How it goes" failure={failure} onRetry={reload} />}
      {data !== null && <FigureTable figures={data} />}
      {data !== null && <Pools pools={data.pools} />}
    </section>
  );
}

function FigureTable({ figures: { by, at, items } }: { figures: TaskFiguresNow }) {
  const lately = by === "minute" ? "in 1–2 min" : "in an hour";
  return (
    // Focusable, as a wide one scrolls.
    <div className={`panel ${table.panel}`} tabIndex={0} role="group" aria-label="How each type goes">
      <table className={`${table.table} ${table.lined} ${css.table}`}>
        <thead>
          <tr>
            <th scope="col">Type</th>
            <th scope="col">{by === "minute" ? "The last 60 minutes" : "The last 48 hours"}</th>
            <th scope="col">Waiting</th>
            <th scope="col">Oldest</th>
            <th scope="col">Running</th>
            <th scope="col">Load</th>
            <th scope="col">Done {lately}</th>
            <th scope="col">Failed {lately}</th>
            <th scope="col">Mean</th>
            <th scope="col">95 of 100 within</th>
          </tr>
        </thead>
        <tbody>
          {items.map((item) => (
            <FigureRow key={item.type} of={item} by={by} nowMs={Date.parse(at)} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function FigureRow({ of, by, nowMs }: { of: TaskTypeFigures; by: By; nowMs: number }) {
  const { type, waiting, isWaitingExact, running, oldestDueAt, loadPercent, lately } = of;
  return (
    <tr>
      <th scope="row">
        <Link href={addressOfTasks({ type })}>{type}</Link>
      </th>
      <td>
        <FigureBars of={of} by={by} />
      </td>
      <td>
        {isWaitingExact ? "" : "more than "}
        {sayCount(waiting)}
      </td>
      <td>{oldestDueAt === null ? "–" : sayAge(nowMs - Date.parse(oldestDueAt))}</td>
      <td>{sayCount(running)}</td>
      <td>
        <Load percent={loadPercent} />
      </td>
      <td>{sayCount(lately.completed)}</td>
      <td>{sayCount(lately.failed)}</td>
      <td>{lately.meanMs === null ? "–" : sayDuration(lately.meanMs)}</td>
      <td>{lately.p95Ms === null ? "–" : sayDuration(lately.p95Ms)}</td>
    </tr>
  );
}

/** Above 100 what waits grows, which is said by more than a colour. */
function Load({ percent }: { percent: number | null }) {
  if (percent === null) return <>–</>;
  const text = `${sayCount(Math.round(percent))} %`;
  if (percent <= 100) return <>{text}</>;
  return (
    <strong className={css.over} title="More arrives than can be done: what waits grows">
      {text}
      <span className="unseen">, more than can be done</span>
    </strong>
  );
}

function Pools({ pools }: Pick<TaskFiguresNow, "pools">) {
  if (pools.length === 0) return null;
  return (
    <p className={css.pools}>
      {pools.map(({ pool, workers, loadPercent }, index) => (
        <span key={pool}>
          {index === 0 ? "" : " · "}
          {pool}: {sayMany(workers, "task worker")}, load of all types <Load percent={loadPercent} />
        </span>
      ))}
    </p>
  );
}
