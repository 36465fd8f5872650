import type { Stats } from "@unacked/contracts";
import { useLive, useSignal } from "../../live/use-live.ts";
import { sayMany } from "../../parts/say.ts";
import css from "./verdict.module.css";

/** The one line that is read first, and beneath it what is wrong, each with what to do. */
export function Verdict({ stats }: { stats: Stats }) {
  const live = useLive();
  useSignal(live.linkChanged);
  useSignal(live.stats.changed);
  const { warnings } = stats;
  const { Processing: running, Failed: failed, Retrying: retrying } = stats.observers.byStatus;
  const isWell = warnings.length === 0 && failed === 0 && retrying === 0;
  const troubles = [
    warnings.length > 0 && sayMany(warnings.length, "warning"),
    failed > 0 && `${sayMany(failed, "observer")} failed`,
    retrying > 0 && `${sayMany(retrying, "observer")} retrying`,
  ].filter((each) => each !== false);
  const isOfBefore = live.link.phase === "lost" || live.stats.failure !== null;
  const headline = isWell ? "All is well" : troubles.join(", ");
  return (
    <section aria-label="How it stands" className={css.verdict}>
      <p className={css.headline} data-well={isWell}>
        {/* Read out when it changes; what is beside it does so every two seconds. */}
        <span role="status">
          <span aria-hidden="true" className={css.lamp} />
          {isOfBefore ? `At last sight: ${headline}` : headline}
        </span>
        <span className={css.more}>
          {sayMany(running, "observer")} {running === 1 ? "runs" : "run"}, {stats.workers.free} of{" "}
          {sayMany(stats.workers.total, "worker")} free
        </span>
      </p>
      {warnings.length > 0 && (
        <ul className={css.warnings}>
          {warnings.map(({ code, subject, message, remedy }) => (
            <li key={`${code} ${subject}`} data-code={code}>
              <strong>{message}</strong>
              <span className={css.remedy}>{remedy}</span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
