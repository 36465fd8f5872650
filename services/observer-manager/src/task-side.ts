import type { TaskId } from "@unacked/contracts";
import { TaskBroker, type TaskBrokerSettings } from "./adapters/amqp/tasks/task-broker.ts";
import type { DatabaseSide } from "./adapters/postgres/database-side.ts";
import type { Log } from "./operations/log.ts";
import type { TaskTally } from "./operations/tally.ts";
import { TaskDesk } from "./operations/tasks/task-desk.ts";
import { TaskDispatcher } from "./operations/tasks/task-dispatcher.ts";
import { TaskLedger } from "./operations/tasks/task-ledger.ts";
import { TaskProver } from "./operations/tasks/task-prover.ts";
import { TaskRetention } from "./operations/tasks/task-retention.ts";
import type { UnwantedAttempt } from "./operations/tasks/task-store.ts";
import { TaskTypeDesk } from "./operations/tasks/task-type-desk.ts";
import { TaskWaits } from "./operations/tasks/task-waits.ts";

export interface TaskSideParts extends TaskBrokerSettings {
  database: Pick<DatabaseSide, "tasks" | "errors" | "notifications">;
  tally: TaskTally;
  retentionMs: number;
  /** The books have read what services said of themselves. */
  isCaughtUp(): boolean;
  log: Log;
}

/** Wires what the manager does for tasks, and starts and ends it in order. It decides nothing. */
export class TaskSide {
  readonly desk: TaskDesk;
  readonly typeDesk: TaskTypeDesk;
  readonly #parts: TaskSideParts;
  readonly #broker: TaskBroker;
  readonly #dispatcher: TaskDispatcher;
  readonly #prover: TaskProver;
  readonly #retention: TaskRetention;
  readonly #waits: TaskWaits;

  constructor(parts: TaskSideParts) {
    this.#parts = parts;
    const { database, log, retentionMs, isCaughtUp } = parts;
    const { store, queue, proofs, days, limits, bulk } = database.tasks;
    const wake = () => this.#dispatcher.wake();
    this.#broker = new TaskBroker(parts);
    const cancelled = (refuse: UnwantedAttempt[]): void => {
      if (refuse.length > 0) void this.#broker.cancel(refuse);
      this.#dispatcher.cancelNow();
    };
    this.#dispatcher = new TaskDispatcher({ store: queue, sender: this.#broker, log });
    database.notifications("unacked_tasks").onWake(wake);
    this.#waits = new TaskWaits(store, log);
    this.desk = new TaskDesk({
      store,
      types: store,
      bulk,
      waits: this.#waits,
      wake,
      cancelled,
    });
    this.typeDesk = new TaskTypeDesk({ store: limits, wake });
    const over = (tasks: TaskId[]) => this.#waits.over(tasks);
    this.#prover = new TaskProver({ store: proofs, markers: this.#broker, isCaughtUp, wake, over, log });
    this.#retention = new TaskRetention({ days, retentionMs, log });
  }

  start(): void {
    const { database, managerId: reporter, tally, log } = this.#parts;
    const { ledger: store, days } = database.tasks;
    const ledger = new TaskLedger({
      store,
      tally,
      unwanted: (attempts) => void this.#broker.cancel(attempts),
      committed: (over) => {
        this.#waits.over(over);
        this.#dispatcher.wake();
      },
    });
    this.#broker.start({ ledger, errors: database.errors, days, reporter, log });
    this.#dispatcher.start();
    this.#prover.start();
    this.#retention.start();
  }

  /** Nobody waits for an end any more. */
  endWaits(): void {
    this.#waits.close();
  }

  async close(): Promise<void> {
    this.#prover.stop();
    this.#retention.stop();
    await Promise.all([this.#dispatcher.stop(), this.#broker.close()]);
  }
}
