import { createHash } from "node:crypto";
import type { AmqpSettings } from "./adapters/amqp/amqp-settings.ts";
import { RequestBroker } from "./adapters/amqp/requests/request-broker.ts";
import { describeDatabaseError } from "./adapters/postgres/connection/database-error.ts";
import type { Stores } from "./adapters/postgres/postgres-stores.ts";
import type { RequestUsers } from "./domain/requests/request-users.ts";
import type { ErrorBook } from "./operations/books/books-store.ts";
import type { Log } from "./operations/log.ts";
import { RequestDesk } from "./operations/requests/request-desk.ts";
import { RequestGate } from "./operations/requests/request-gate.ts";
import type { RequestTally } from "./operations/tally.ts";

export interface RequestSideParts {
  amqp: AmqpSettings;
  /** Undefined: nobody may ask anything over AMQP, and nothing is declared. */
  users: RequestUsers | undefined;
  stores: Pick<Stores, "tasks">;
  errors: ErrorBook;
  tally: RequestTally;
  /** Some task may be due. */
  wake(): void;
  /** Some timer may be due. */
  wakeTimers(): void;
  log: Log;
}

/** Wires what the manager does for requests over AMQP. It decides nothing. */
export class RequestSide {
  readonly #broker: RequestBroker | undefined;

  constructor({ amqp, users, stores, errors, tally, wake, wakeTimers, log }: RequestSideParts) {
    if (users === undefined) return;
    const { store: types, requests: store } = stores.tasks;
    const isPassing = (error: unknown) => describeDatabaseError(error).unavailable;
    this.#broker = new RequestBroker(amqp, {
      gate: new RequestGate({ users, sha256: (body) => createHash("sha256").update(body).digest("hex") }),
      desk: new RequestDesk({ store, types, isPassing, wake, wakeTimers, tally, log }),
      errors,
      tally,
      log,
    });
  }

  /** How many were received and are not answered. */
  get held(): number {
    return this.#broker?.held ?? 0;
  }

  start(): void {
    this.#broker?.start();
  }

  async close(): Promise<void> {
    await this.#broker?.close();
  }
}
