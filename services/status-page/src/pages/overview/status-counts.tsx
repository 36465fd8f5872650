import type { ObserverStatus, Stats } from "@unacked/contracts";
import { useLive, useSignal } from "../../live/use-live.ts";
import { sayCount } from "../../parts/say.ts";
import { StatusMark } from "../../parts/status-mark.tsx";
import { Link } from "../../shell/navigation.tsx";
import { STATUSES } from "../../store/statuses.ts";
import css from "./status-counts.module.css";

/** Each leads to its observers. Live from the list once that is whole, from the figures before. */
export function StatusCounts({ stats }: { stats: Stats }) {
  const { observers } = useLive();
  useSignal(observers.changed);
  const isWhole = observers.loading.phase === "whole";
  const countOf = (status: ObserverStatus) =>
    isWhole && status !== "Deleted" ? observers.index.countOf(status) : stats.observers.byStatus[status];
  return (
    <section aria-label="Observers by status">
      <ul className={`panel ${css.counts}`}>
        {STATUSES.map((status) => (
          <li key={status}>
            <Link href={`/observers?status=${status}`} className={css.count} data-zero={countOf(status) === 0}>
              <span className={css.number}>{sayCount(countOf(status))}</span>
              <StatusMark status={status} />
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}
