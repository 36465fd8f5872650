import type { BeginWork } from "@unacked/contracts";
import type { Stores } from "./adapters/postgres/postgres-stores.ts";
import { BulkWorkDesk } from "./operations/bulk-work/bulk-work-desk.ts";
import { BulkWorkDoer } from "./operations/bulk-work/bulk-work-doer.ts";
import { EndedRetention } from "./operations/ended-retention.ts";
import type { Log } from "./operations/log.ts";
import type { Refusal } from "./operations/refusal.ts";

const FORGOTTEN_AT_ONCE = 1_000;

export interface BulkWorkSideParts {
  stores: Pick<Stores, "bulkWork">;
  whyNot(act: BeginWork["act"]): Refusal | undefined;
  committed(): void;
  retentionMs: number;
  log: Log;
}

/** Wires bulk work, and starts and ends it. It decides nothing. */
export class BulkWorkSide {
  readonly desk: BulkWorkDesk;
  readonly #doer: BulkWorkDoer;
  readonly #retention: EndedRetention;

  constructor({ stores: { bulkWork: store }, whyNot, committed, retentionMs, log }: BulkWorkSideParts) {
    this.#doer = new BulkWorkDoer({ store, mayDo: (act) => whyNot(act) === undefined, committed, log });
    this.desk = new BulkWorkDesk({ store, whyNot, wake: () => this.#doer.wake() });
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
