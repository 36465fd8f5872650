import type { BeginWork } from "@unacked/contracts";
import type { Stores } from "./adapters/postgres/postgres-stores.ts";
import { EndedRetention } from "./operations/ended-retention.ts";
import type { Log } from "./operations/log.ts";
import type { Refusal } from "./operations/refusal.ts";
import { WorkDesk } from "./operations/work/work-desk.ts";
import { WorkDoer } from "./operations/work/work-doer.ts";

const FORGOTTEN_AT_ONCE = 1_000;

export interface WorkSideParts {
  stores: Pick<Stores, "work">;
  whyNot(act: BeginWork["act"]): Refusal | undefined;
  committed(): void;
  retentionMs: number;
  log: Log;
}

/** Wires what is asked of very many, and starts and ends it. It decides nothing. */
export class WorkSide {
  readonly desk: WorkDesk;
  readonly #doer: WorkDoer;
  readonly #retention: EndedRetention;

  constructor({ stores: { work: store }, whyNot, committed, retentionMs, log }: WorkSideParts) {
    this.#doer = new WorkDoer({ store, mayDo: (act) => whyNot(act) === undefined, committed, log });
    this.desk = new WorkDesk({ store, whyNot, wake: () => this.#doer.wake() });
    this.#retention = new EndedRetention({
      what: "works",
      forget: (olderThanMs) => store.forget(olderThanMs, FORGOTTEN_AT_ONCE),
      retentionMs,
      log,
    });
  }

  start(): void {
    this.#doer.start();
    this.#retention.start();
  }

  async close(): Promise<void> {
    await Promise.all([this.#doer.stop(), this.#retention.stop()]);
  }
}
