import { useLive, useSignal } from "../../live/use-live.ts";
import { Pending } from "../../parts/blank.tsx";
import { Failure } from "../../parts/failure.tsx";
import { Attention } from "./attention.tsx";
import css from "./overview.module.css";
import { Queues } from "./queues.tsx";
import { RunCharts } from "./run-charts.tsx";
import { ServiceBars } from "./service-bars.tsx";
import { StatusCounts } from "./status-counts.tsx";
import { Verdict } from "./verdict.tsx";

/** Within five seconds: is all well, what is not, and what to do. */
export default function Overview() {
  const { stats: live } = useLive();
  useSignal(live.changed);
  const { stats, failure } = live;
  if (stats === null && failure !== null) {
    return <Failure what="The figures" failure={failure} onRetry={() => location.reload()} />;
  }
  return (
    <>
      <h1 className="unseen">Overview</h1>
      {stats === null ? <Pending label="Reading the figures" height="4rem" /> : <Verdict stats={stats} />}
      {stats === null ? <Pending label="Reading the counts" height="5.5rem" /> : <StatusCounts stats={stats} />}
      <div className={css.columns}>
        <div className={css.side}>
          <ServiceBars stats={stats} />
          {stats !== null && <Queues stats={stats} />}
        </div>
        <div className={css.side}>
          <RunCharts />
          {stats !== null && <Attention stats={stats} />}
        </div>
      </div>
    </>
  );
}
