import type { RunCounts, RunFigures } from "@unacked/contracts";
import { useMemo, useState } from "react";
import { useAnswer } from "../../live/use-answer.ts";
import { useShownNow } from "../../live/use-now.ts";
import { OneOf } from "../../parts/one-of.tsx";
import plain from "../../parts/plain-table.module.css";
import { sayCount } from "../../parts/say.ts";
import { Unanswered } from "../../parts/unanswered.tsx";
import { COUNTED, type Counted, minutesOf } from "../../store/run-minutes.ts";
import css from "./run-charts.module.css";
import { SmallChart } from "./small-chart.tsx";

const EVERY_MS = 10_000;
const SPANS = { hour: { minutes: 60, text: "in the last hour" }, day: { minutes: 1_440, text: "in the last 24 hours" } };
type Span = keyof typeof SPANS;

const LOOKS: Record<Counted, { title: string; colour: string }> = {
  starts: { title: "Starts", colour: "--good" },
  failures: { title: "Failures", colour: "--bad" },
  interruptions: { title: "Interruptions", colour: "--wait" },
  emits: { title: "Emits", colour: "--soft" },
};

/** What was by the minute, as the manager keeps it: the same for everybody who looks, whenever they came. */
export function RunCharts() {
  const [span, setSpan] = useState<Span>("hour");
  const round = Math.floor(useShownNow(EVERY_MS) / EVERY_MS);
  const { data, failure, reload } = useAnswer("getRunFigures", { query: { minutes: SPANS[span].minutes } }, round);
  return (
    <section aria-labelledby="runs-by-minute">
      <div className={css.head}>
        <h2 id="runs-by-minute">By the minute</h2>
        <OneOf label="How far back" value={span} options={{ hour: "1 h", day: "24 h" }} onChange={setSpan} />
      </div>
      {data === null && <Unanswered what="What was by the minute" height="9rem" failure={failure} onRetry={reload} />}
      {data !== null && <Charts figures={data} span={span} />}
    </section>
  );
}

function Charts({ figures, span }: { figures: RunFigures; span: Span }) {
  const { timesS, values, sums } = useMemo(() => minutesOf(figures), [figures]);
  return (
    <div className={`panel ${css.charts}`}>
      {COUNTED.map((count) => (
        <div key={count} className={css.chart}>
          <p className={css.title}>
            {LOOKS[count].title} <span className={`${css.now} figures`}>{sayCount(sums[count])}</span>
          </p>
          <SmallChart
            timesS={timesS}
            values={values[count]}
            colour={LOOKS[count].colour}
            label={`${LOOKS[count].title} by the minute; ${sayCount(sums[count])} ${SPANS[span].text}`}
          />
        </div>
      ))}
      <details className={css.tables}>
        <summary>By type and service, {SPANS[span].text}</summary>
        <CountsTable of="Type" rows={figures.byType.map((row) => ({ ...row, name: row.type, key: row.type }))} />
        <CountsTable
          of="Service"
          rows={figures.byService.map(({ service, ...counts }) => ({
            ...counts,
            name: service.name ?? "unknown",
            key: service.id,
          }))}
        />
      </details>
    </div>
  );
}

function CountsTable({ of, rows }: { of: string; rows: (RunCounts & { name: string; key: string })[] }) {
  if (rows.length === 0) return null;
  return (
    <table className={`${plain.table} ${plain.lined} ${css.table} figures`}>
      <thead>
        <tr>
          <th scope="col">{of}</th>
          {COUNTED.map((count) => (
            <th key={count} scope="col" className={css.number}>
              {LOOKS[count].title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.key}>
            <th scope="row">{row.name}</th>
            {COUNTED.map((count) => (
              <td key={count} className={css.number}>
                {sayCount(row[count])}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
