import type { Stores } from "./adapters/postgres/postgres-stores.ts";
import { BalanceDesk } from "./operations/balance/balance-desk.ts";
import { Balancer } from "./operations/balance/balancer.ts";
import type { Log } from "./operations/log.ts";

export interface BalanceSideParts {
  stores: Pick<Stores, "balance">;
  isAuto: boolean;
  isReady(): boolean;
  /** Whether all managers know what a move is. */
  mayMove(): boolean;
  /** Commands were written. */
  committed(): void;
  log: Log;
}

/** Wires what the manager does to spread observers over services, and starts and ends it. It decides nothing. */
export class BalanceSide {
  readonly desk: BalanceDesk;
  readonly #balancer: Balancer;

  constructor({ stores, isAuto, isReady, mayMove, committed, log }: BalanceSideParts) {
    const store = stores.balance;
    this.#balancer = new Balancer({ store, isAuto, mayMove: () => isReady() && mayMove(), committed, log });
    this.desk = new BalanceDesk({ store, isAuto, isReady, mayMove, begun: () => this.#balancer.wake(), committed });
  }

  start(): void {
    this.#balancer.start();
  }

  close(): Promise<void> {
    return this.#balancer.stop();
  }
}
