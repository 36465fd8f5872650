import { useLive } from "../../live/use-live.ts";
import { useNow } from "../../live/use-now.ts";
import { sayCount, sayDuration, sayMany } from "../../parts/say.ts";
import { FLOWS, type Flow, type Moves } from "../../store/flow-rates.ts";
import css from "./flow-charts.module.css";
import { SmallChart } from "./small-chart.tsx";

const EVERY_MS = 1_000;
const LOOKS: Record<Flow, { title: string; colour: string }> = {
  starts: { title: "Starts", colour: "--good" },
  ends: { title: "Ends", colour: "--soft" },
  failures: { title: "Failures", colour: "--bad" },
};

/** Runs a minute over the last ten, as this page saw them in the stream of events. */
export function FlowCharts() {
  const { observers } = useLive();
  const nowMs = useNow(EVERY_MS);
  const { timesS, perMinute } = observers.rates.series(nowMs);
  return (
    <section aria-labelledby="flow-title">
      <div className={css.head}>
        <h2 id="flow-title">Runs a minute</h2>
        <span className={css.note}>since this page was opened; at most 10 min</span>
      </div>
      <div className={`panel ${css.charts}`}>
        {FLOWS.map((flow) => {
          const now = perMinute[flow].at(-1) ?? 0;
          return (
            <div key={flow} className={css.chart}>
              <p className={css.title}>
                {LOOKS[flow].title} <span className={`${css.now} figures`}>{sayCount(now)}</span>
              </p>
              <SmallChart
                timesS={timesS}
                values={perMinute[flow]}
                colour={LOOKS[flow].colour}
                label={`${LOOKS[flow].title} a minute over the last ten minutes; now ${sayCount(now)}`}
              />
            </div>
          );
        })}
        <p className={css.moves}>{sayMoves(observers.rates.moves)}</p>
      </div>
    </section>
  );
}

function sayMoves({ count, waited, longestWaitMs }: Moves): string {
  if (count === 0) return "No run has moved to another service since then.";
  const moved = `${sayMany(count, "run")} moved to another service`;
  if (waited === 0) return `${moved}, each at once.`;
  return `${moved}; ${sayCount(waited)} waited for one, at most ${sayDuration(longestWaitMs)}.`;
}
