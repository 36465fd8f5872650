import { CALM_MS, Calm } from "../../domain/balance/calm.ts";
import { unevenText } from "../../domain/balance/uneven.ts";
import type { Log } from "../log.ts";
import { Loop, untilNext } from "../loop.ts";
import type { BalanceStore, PoolStanding } from "./balance-store.ts";
import { awaitingIn, decideStep, planFor } from "./next-step.ts";

export interface BalancerParts {
  store: BalanceStore;
  /** REBALANCE=auto is set. */
  isAuto: boolean;
  /** False while the books may be behind reality, or not all managers know of moves. */
  mayMove(): boolean;
  /** Told after each commit that wrote a command. */
  committed(): void;
  log: Log;
}

const STEP_LOOK_MS = 1_000;
const IDLE_LOOK_MS = 5_000;
/** A pool is left alone for so long after a rebalance that was cancelled or stalled. */
const RESTS_MS = 600_000;

/**
 * Carries on what rebalances are under way, one step at a time, and with REBALANCE=auto begins one where a pool has been calm for a
 * minute and is not even. A step is one transaction: a crash in the middle leaves it to be made by any manager.
 */
export class Balancer {
  readonly #parts: BalancerParts;
  readonly #calm = new Calm();
  readonly #loop = new Loop({ round: () => this.#round(), failed: (error) => this.#failed(error) });
  #nextLookMs = 0;

  constructor(parts: BalancerParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#loop.start();
  }

  stop(): Promise<void> {
    return this.#loop.end();
  }

  wake(): void {
    this.#loop.wake();
  }

  async #round(): Promise<number> {
    const { store, mayMove, committed, log } = this.#parts;
    this.#loop.takeWake();
    if (!mayMove()) return IDLE_LOOK_MS;
    const made = (await store.isAnyDue()) ? await store.step(decideStep) : undefined;
    if (made !== undefined && made.moved > 0) {
      committed();
      log.info({ event: "rebalanced", ...made }, "observers were told to move");
    }
    if (made !== undefined) return 0;
    if (performance.now() >= this.#nextLookMs) await this.#beginWhereUneven();
    return untilNext(STEP_LOOK_MS);
  }

  async #beginWhereUneven(): Promise<void> {
    const { store, isAuto, log } = this.#parts;
    this.#nextLookMs = performance.now() + IDLE_LOOK_MS;
    if (!isAuto) return;
    const standings = await store.standings();
    this.#calm.keepOnly(new Set(standings.keys()));
    for (const [pool, standing] of standings) {
      const why = this.#whyBegin(pool, standing);
      if (why === null) continue;
      const last = await store.lastOf(pool);
      if (last !== undefined && last.endedAt === null) continue;
      // Somebody has ended it, or it came to nothing: it is not begun again at once.
      const isRecent = last !== undefined && last.endedAgoMs < RESTS_MS;
      if (isRecent && last.outcome !== "even") continue;
      await store.begin({ pool, by: "auto", why, planned: planFor(standing).moves });
      log.info({ event: "rebalance-begun", pool, why }, "the pool has been calm for a minute, and is not even");
    }
  }

  #whyBegin(pool: string, standing: PoolStanding): string | null {
    const { services } = standing;
    const calmForMs = this.#calm.look(pool, services, performance.now());
    const isMixed = services.some(({ isOpen, canMove }) => isOpen && !canMove);
    if (calmForMs < CALM_MS || awaitingIn(standing) > 0 || isMixed) return null;
    const plan = planFor(standing);
    if (plan.moves === 0) return null;
    return unevenText(plan, (id) => services.find((service) => service.id === id)?.name ?? id);
  }

  #failed(error: unknown): number {
    this.#parts.log.warn({ err: error }, "the balance of the pools could not be checked, trying again");
    return IDLE_LOOK_MS;
  }
}
