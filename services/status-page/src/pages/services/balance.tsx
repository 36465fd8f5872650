import type { BalanceView } from "@unacked/contracts";
import { useAnswer } from "../../live/use-answer.ts";
import { useLive, useSignal } from "../../live/use-live.ts";
import { useShownNow } from "../../live/use-now.ts";
import { ActionButton } from "../../parts/action-button.tsx";
import { AgeOf } from "../../parts/age-of.tsx";
import { Failure } from "../../parts/failure.tsx";
import plain from "../../parts/plain-table.module.css";
import { Progress } from "../../parts/progress.tsx";
import { sayMany } from "../../parts/say.ts";
import { useAction } from "../../parts/use-action.ts";
import { cancelRebalance, rebalance } from "../../wire/actions.ts";
import css from "./balance.module.css";

/** Types beyond these are one column. */
const MOST_TYPES = 8;
const LOOK_EVERY_MS = 3_000;

/** For each pool with several services: what lies where, and what would be moved. */
export function Balance() {
  const { services } = useLive();
  useSignal(services.changed);
  const counts = new Map<string, number>();
  for (const { pool } of services.living()) counts.set(pool, (counts.get(pool) ?? 0) + 1);
  const pools = [...counts].flatMap(([pool, count]) => (count > 1 ? [pool] : [])).toSorted();
  return pools.map((pool) => <OfPool key={pool} pool={pool} />);
}

function OfPool({ pool }: { pool: string }) {
  const nowMs = useShownNow(LOOK_EVERY_MS);
  const { data, failure, reload } = useAnswer("getBalance", { path: { pool } }, Math.floor(nowMs / LOOK_EVERY_MS));
  if (data === null)
    return failure === null ? null : <Failure what={`The balance of pool ${pool}`} failure={failure} onRetry={reload} />;
  return (
    <section aria-label={`Balance of pool ${pool}`}>
      <div className={css.head}>
        <h2>Balance of pool {pool}</h2>
        <Acts view={data} onDone={reload} />
      </div>
      <UnderWay view={data} />
      <Matrix view={data} />
    </section>
  );
}

function Acts({ view, onDone }: { view: BalanceView; onDone: () => void }) {
  const { isBusy, run } = useAction(onDone);
  const isUnderWay = view.rebalance !== null && view.rebalance.endedAt === null;
  const act = (send: (pool: string) => Promise<BalanceView>) =>
    run(async () => {
      await send(view.pool);
      return undefined; // what becomes of it is read again
    });
  if (isUnderWay)
    return (
      <ActionButton
        call="cancelRebalance"
        size="compact-sm"
        variant="default"
        isBusy={isBusy}
        onClick={() => act(cancelRebalance)}
      >
        End it
      </ActionButton>
    );
  if (view.moves === 0) return null;
  return (
    <ActionButton call="rebalance" size="compact-sm" variant="default" isBusy={isBusy} onClick={() => act(rebalance)}>
      Rebalance: move {view.moves}
    </ActionButton>
  );
}

function UnderWay({ view: { moves, uneven, waits, mode, rebalance: last } }: { view: BalanceView }) {
  const isUnderWay = last !== null && last.endedAt === null;
  const auto = mode === "auto" ? " Managers do it by themselves, once it has been calm for a minute." : "";
  return (
    <div className={css.words}>
      {isUnderWay && <Progress parts={[{ tone: "good", part: last.planned === 0 ? 1 : last.moved / last.planned }]} />}
      <p>
        {isUnderWay && `${last.moved} of ${last.planned} moved; `}
        {/* Without what counts on: a screen reader would read it out each second. */}
        <span role="status">
          {isUnderWay
            ? `begun by ${last.by}: ${last.why}.${last.waits === null ? "" : ` It waits: ${last.waits}.`}`
            : `${evenText(moves, uneven)}${waits === null ? "" : ` (${waits})`}${moves > 0 ? auto : ""}`}
        </span>
      </p>
      {!isUnderWay && last !== null && (
        <p className={css.last}>
          The last rebalance, by {last.by}, moved {last.moved} and ended {last.outcome}
          {last.waits !== null && `: ${last.waits}`}, <AgeOf since={last.endedAt ?? last.begunAt} /> ago.
        </p>
      )}
    </div>
  );
}

function evenText(moves: number, uneven: string | null): string {
  if (moves === 0) return uneven === null ? "Each runs its share." : `It is uneven, but nothing can be moved: ${uneven}.`;
  return `${sayMany(moves, "move")} would make it even${uneven === null ? "" : `: ${uneven}`}.`;
}

function Matrix({ view: { pool, services } }: { view: BalanceView }) {
  const totals = new Map<string, number>();
  for (const { types } of services)
    for (const [type, count] of Object.entries(types)) totals.set(type, (totals.get(type) ?? 0) + count);
  const types = [...totals].toSorted(([a, x], [b, y]) => y - x || a.localeCompare(b)).map(([type]) => type);
  const shown = types.slice(0, MOST_TYPES);
  const rest = types.slice(MOST_TYPES);
  const most = Math.max(1, ...services.flatMap((one) => shown.map((type) => one.types[type] ?? 0)));
  return (
    // Focusable, as a wide one scrolls.
    <div
      className={`panel ${plain.panel}`}
      tabIndex={0}
      role="region"
      aria-label={`Types over the services of pool ${pool}`}
    >
      <table className={`${plain.table} ${plain.lined} ${css.matrix} figures`}>
        <thead>
          <tr>
            <th scope="col">Service</th>
            <th scope="col">Workers</th>
            <th scope="col">Runs</th>
            <th scope="col">Share</th>
            <th scope="col">To move</th>
            {shown.map((type) => (
              <th key={type} scope="col">
                {type}
              </th>
            ))}
            {rest.length > 0 && <th scope="col">{sayMany(rest.length, "other type")}</th>}
          </tr>
        </thead>
        <tbody>
          {services.map((one) => (
            <tr key={one.id}>
              <th scope="row" className={plain.name}>
                {one.name}
              </th>
              <td>{one.workers}</td>
              <td>{one.running}</td>
              <td>{one.share ?? "keeps its own"}</td>
              <td>{one.leaving === 0 ? "" : `−${one.leaving}`}</td>
              {shown.map((type) => (
                <td key={type} style={{ "--part": (one.types[type] ?? 0) / most } as object} className={css.cell}>
                  {one.types[type] ?? 0}
                </td>
              ))}
              {rest.length > 0 && <td>{rest.reduce((sum, type) => sum + (one.types[type] ?? 0), 0)}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
