import { FAILING_STATUSES, type Stats } from "@unacked/contracts";
import { useMemo, useSyncExternalStore } from "react";
import { OrderedView } from "../../live/ordered-view.ts";
import { useLive } from "../../live/use-live.ts";
import { CutName } from "../../parts/cut-name.tsx";
import { sayAge, sayMany } from "../../parts/say.ts";
import { StatusMark } from "../../parts/status-mark.tsx";
import { Link } from "../../shell/navigation.tsx";
import { addressOfObserver } from "../../shell/route.ts";
import { NO_FILTER } from "../../store/list-filter.ts";
import css from "./attention.module.css";

const SHOWN = 5;

/** Observers to look at first: the one that has waited longest, and those that fail most. */
export function Attention({ stats }: { stats: Stats }) {
  const { observers } = useLive();
  const view = useMemo(
    () => new OrderedView(observers, { ...NO_FILTER, statuses: FAILING_STATUSES, sort: "attempts" }),
    [observers],
  );
  useSyncExternalStore(view.subscribe, view.getVersion);
  const { oldestWaiting } = stats;
  const worst = Array.from({ length: SHOWN }, (_, index) => observers.index.get(view.rows.idAt(index) ?? ""));
  const rows = worst.filter((row) => row !== undefined);
  return (
    <section aria-labelledby="attention-title">
      <h2 id="attention-title" className={css.title}>
        To look at
      </h2>
      <div className={`panel ${css.list}`}>
        {oldestWaiting !== null && (
          <p className={css.item}>
            <Link href={addressOfObserver(oldestWaiting.id)} aria-label={oldestWaiting.name}>
              <CutName name={oldestWaiting.name} />
            </Link>
            <StatusMark status={oldestWaiting.status} />
            <span className={css.why}>has waited longest: {sayAge(oldestWaiting.waitingMs)}</span>
          </p>
        )}
        {rows.map((row) => (
          <p key={row.id} className={css.item}>
            <Link href={addressOfObserver(row.id)} aria-label={row.name}>
              <CutName name={row.name} />
            </Link>
            <StatusMark status={row.status} pending={row.pending} />
            <span className={css.why} title={row.error ?? ""}>
              {row.attempts > 0 && `${sayMany(row.attempts, "attempt")}. `}
              {row.error}
            </span>
          </p>
        ))}
        {view.rows.length > SHOWN && (
          <p className={css.all}>
            <Link href="/observers?status=Retrying,Failed&sort=attempts">
              All {sayMany(view.rows.length, "observer")} that fail
            </Link>
          </p>
        )}
        {oldestWaiting === null && rows.length === 0 && <p className={css.none}>Nothing waits, nothing fails.</p>}
      </div>
    </section>
  );
}
