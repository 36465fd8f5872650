import type { BalanceView, ObserverView, RebalanceView } from "@unacked/contracts";
import type { Actor } from "../../domain/access/identity.ts";
import type { Plan } from "../../domain/balance/plan.ts";
import { unevenText } from "../../domain/balance/uneven.ts";
import { newAction } from "../access/audit.ts";
import { notKnownByAll } from "../features/not-known-by-all.ts";
import type { ObserverRef } from "../observers/observer-tools.ts";
import type { Refusal } from "../refusal.ts";
import type { BalanceStore, PoolService, PoolStanding, RebalanceRow } from "./balance-store.ts";
import { awaitingIn, planFor, TYPES_UNKNOWN, withThoseAtRest } from "./next-step.ts";

export interface BalanceDeskParts {
  store: BalanceStore;
  isAuto: boolean;
  isReady(): boolean;
  /** Whether all managers know what a move is. */
  mayMove(): boolean;
  /** A rebalance has begun. */
  begun(): void;
  /** Told after each commit that wrote a command. */
  committed(): void;
}

const NO_POOL: Refusal = { kind: "problem", code: "pool-not-found" };
const NOT_READY: Refusal = { kind: "problem", code: "not-ready" };
const MAY_NOT_MOVE = notKnownByAll("know what a move is");

const STANDS_STILL =
  "not all managers are known to know what a move is: one of an older version runs, or the first of them has only just started";

/** How observers lie on services, and what operators do about that. */
export class BalanceDesk {
  readonly #parts: BalanceDeskParts;

  constructor(parts: BalanceDeskParts) {
    this.#parts = parts;
  }

  async getBalance(pool: string): Promise<BalanceView | Refusal> {
    const { store } = this.#parts;
    const standing = (await store.standings()).get(pool);
    return standing === undefined ? NO_POOL : this.#viewOf(pool, standing);
  }

  /** Begins a rebalance where there is something to move; one that is under way goes on. Problems: pool-not-found, not-ready. */
  async rebalance(
    pool: string,
    { dryRun }: { dryRun: boolean },
    by: Actor,
  ): Promise<{ begun: boolean; balance: BalanceView } | Refusal> {
    const { store, begun } = this.#parts;
    const standing = (await store.standings()).get(pool);
    if (standing === undefined) return NO_POOL;
    const view = await this.#viewOf(pool, standing);
    if (dryRun || view.moves === 0) return { begun: false, balance: view };
    const refusal = this.#whyNot();
    if (refusal !== undefined) return refusal;
    const why = view.uneven ?? "it is not quite even";
    const asked = { pool, by: by.name, why, planned: view.moves };
    const rebalance = await store.begin(asked, newAction("pool.rebalance", by));
    begun();
    return { begun: true, balance: { ...view, rebalance: toRebalanceView(rebalance) } };
  }

  /** Observers that were told to move do so all the same. Safe to repeat. Problems: pool-not-found, not-ready. */
  async cancelRebalance(pool: string, by: Actor): Promise<BalanceView | Refusal> {
    if (!this.#parts.isReady()) return NOT_READY;
    await this.#parts.store.cancel(pool, newAction("pool.cancel-rebalance", by));
    return this.getBalance(pool);
  }

  /**
   * Moves it away from the service where it runs. Problems: observer-not-found, not-movable, nowhere-to-move, service-too-old, not-ready.
   */
  async moveObserver(ref: ObserverRef, by: Actor): Promise<{ kind: "accepted"; observer: ObserverView } | Refusal> {
    const refusal = this.#whyNot();
    if (refusal !== undefined) return refusal;
    const outcome = await this.#parts.store.moveOne(ref, newAction("observer.move", by), whyNotMove);
    if (outcome.kind === "accepted") this.#parts.committed();
    return outcome;
  }

  /** A rebalance that no manager may carry on has written nothing of why, as nobody is at it. */
  async #viewOf(pool: string, standing: PoolStanding): Promise<BalanceView> {
    const { store, isAuto, mayMove } = this.#parts;
    const view = toView(pool, standing, await store.lastOf(pool), isAuto);
    const { rebalance } = view;
    if (rebalance === null || rebalance.endedAt !== null || mayMove()) return view;
    return { ...view, rebalance: { ...rebalance, waits: STANDS_STILL } };
  }

  #whyNot(): Refusal | undefined {
    const { isReady, mayMove } = this.#parts;
    if (!isReady()) return NOT_READY;
    return mayMove() ? undefined : MAY_NOT_MOVE;
  }
}

/** What REST asks of the balance. */
export type BalanceTools = Pick<BalanceDesk, "getBalance" | "rebalance" | "cancelRebalance" | "moveObserver">;

function whyNotMove({ service, type }: ObserverView, standing: PoolStanding | undefined): Refusal | undefined {
  const { services, awaiting } = standing ?? { services: [], awaiting: new Map<string, number>() };
  const own = services.find(({ id }) => id === service?.id);
  if (own === undefined) return { kind: "problem", code: "not-movable" };
  if (!own.canMove) return { kind: "problem", code: "service-too-old" };
  const takers = services.filter((one) => one !== own && one.isOpen && one.knows.has(type));
  const free = sum(takers.map((one) => Math.max(0, one.workers - runningOn(one))));
  const before = sum([...awaiting].map(([each, count]) => (takers.some(({ knows }) => knows.has(each)) ? count : 0)));
  if (free > before) return undefined;
  const detail = `Workers that are free elsewhere: ${free}; observers that are on their way there, or wait: ${before}`;
  return { kind: "problem", code: "nowhere-to-move", ...(free > 0 && { detail }) };
}

const sum = (counts: Iterable<number>): number => [...counts].reduce((a, b) => a + b, 0);
const runningOn = ({ runs }: PoolService): number => sum(runs.values());

function toView(pool: string, standing: PoolStanding, last: RebalanceRow | undefined, isAuto: boolean): BalanceView {
  const plan: Plan = planFor(standing);
  const planned = new Map(plan.services.map((service) => [service.id, service]));
  const { services } = standing;
  const atRest = plan.moves === 0 ? withThoseAtRest(standing) : undefined;
  return {
    pool,
    services: services.map((service) => ({
      id: service.id,
      name: service.name,
      workers: service.workers,
      running: runningOn(service),
      share: planned.get(service.id)?.share ?? null,
      leaving: sum(planned.get(service.id)?.leaving.values() ?? []),
      types: Object.fromEntries(service.runs),
    })),
    moves: plan.moves,
    uneven: unevenText(atRest?.plan ?? plan, (id) => services.find((service) => service.id === id)?.name ?? id),
    mode: isAuto ? "auto" : "manual",
    waits: whyStays(standing, plan, atRest?.why),
    rebalance: last === undefined ? null : toRebalanceView(last),
  };
}

/** What keeps services out of a rebalance, where that keeps the pool uneven. */
function whyStays(standing: PoolStanding, plan: Plan, atRest: string | undefined): string | null {
  const { services } = standing;
  const awaiting = awaitingIn(standing);
  const old = services.filter(({ canMove }) => !canMove).map(({ name }) => name);
  if (old.length > 0) return `of a version that cannot move what it runs: ${old.slice(0, 5).join(", ")}`;
  if (plan.moves > 0 && awaiting > 0) return `${awaiting} observers are on their way, or wait for a worker`;
  if (atRest !== undefined) return atRest;
  if (plan.moves === 0 && plan.isUneven) return TYPES_UNKNOWN;
  return null;
}

function toRebalanceView({ id, by, why, begunAt, planned, moved, waits, endedAt, outcome }: RebalanceRow): RebalanceView {
  return { id, by, why, begunAt, planned, moved, waits, endedAt, outcome };
}
