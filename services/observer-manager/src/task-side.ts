import { createHash } from "node:crypto";
import type { QueueDepth, TaskId } from "@unacked/contracts";
import type { AmqpSettings } from "./adapters/amqp/amqp-settings.ts";
import { TaskBroker } from "./adapters/amqp/tasks/task-broker.ts";
import type { Channel } from "./adapters/postgres/connection/notifications.ts";
import type { Stores } from "./adapters/postgres/postgres-stores.ts";
import type { ErrorBook } from "./operations/books/books-store.ts";
import type { Wakeups } from "./operations/changes/change-log.ts";
import type { Log } from "./operations/log.ts";
import type { TaskTally } from "./operations/tally.ts";
import { TaskDesk } from "./operations/tasks/desk/task-desk.ts";
import { TaskFailureDesk } from "./operations/tasks/desk/task-failure-desk.ts";
import { TaskTypeDesk } from "./operations/tasks/desk/task-type-desk.ts";
import { TaskDispatcher } from "./operations/tasks/dispatch/task-dispatcher.ts";
import { TaskFigureDesk } from "./operations/tasks/figures/task-figure-desk.ts";
import { TaskFigureFolder } from "./operations/tasks/figures/task-figure-folder.ts";
import { RefusedParams } from "./operations/tasks/ledger/refused-params.ts";
import { TaskCreations } from "./operations/tasks/ledger/task-creations.ts";
import { TaskLedger } from "./operations/tasks/ledger/task-ledger.ts";
import { TaskLeases } from "./operations/tasks/takes/task-leases.ts";
import { TaskTakeDesk } from "./operations/tasks/takes/task-take-desk.ts";
import { WaitingTakers } from "./operations/tasks/takes/waiting-takers.ts";
import type { UnwantedSend } from "./operations/tasks/unwanted-send.ts";
import { TaskProver } from "./operations/tasks/upkeep/task-prover.ts";
import { TaskRetention } from "./operations/tasks/upkeep/task-retention.ts";
import { Waits } from "./operations/waits.ts";

export interface TaskSideParts {
  amqp: AmqpSettings;
  stores: Pick<Stores, "tasks">;
  wakeups: (channel: Channel) => Wakeups;
  errors: ErrorBook;
  tally: TaskTally;
  retentionMs: number;
  /** Into which handlers of every pool may create tasks. */
  creationPools: readonly string[];
  /** The books have read what services said of themselves. */
  isCaughtUp(): boolean;
  /** Tasks of flows may have ended. */
  flowEnds(): void;
  /** Tasks are over. */
  ended(): void;
  log: Log;
}

/** Wires what the manager does for tasks, and starts and ends it in order. It decides nothing. */
export class TaskSide {
  readonly desk: TaskDesk;
  readonly typeDesk: TaskTypeDesk;
  readonly failureDesk: TaskFailureDesk;
  readonly figureDesk: TaskFigureDesk;
  readonly takeDesk: TaskTakeDesk;
  readonly #parts: TaskSideParts;
  readonly #broker: TaskBroker;
  readonly #dispatcher: TaskDispatcher;
  readonly #prover: TaskProver;
  readonly #retention: TaskRetention;
  readonly #folder: TaskFigureFolder;
  readonly #waits: Waits<TaskId>;
  readonly #takers: WaitingTakers;
  readonly #leases: TaskLeases;

  constructor(parts: TaskSideParts) {
    this.#parts = parts;
    const { stores, wakeups, log, retentionMs, isCaughtUp, tally } = parts;
    const { store, ledger, queue, proofs, days, limits, bulk, takes, figures, failures, requests } = stores.tasks;
    const wake = () => this.wake();
    const madeRoom = () => this.#madeRoom();
    this.#broker = new TaskBroker(parts.amqp);
    const cancelled = (refuse: UnwantedSend[]): void => {
      this.#refuse(refuse);
      parts.flowEnds();
    };
    const promoted = () => this.#takers.wake();
    const isWaitedFor = (pool: string, types: ReadonlySet<string>) => this.#takers.isWaitedFor(pool, types);
    this.#dispatcher = new TaskDispatcher({ store: queue, sender: this.#broker, promoted, isWaitedFor, log });
    wakeups("unacked_tasks").onWake(wake);
    this.#waits = new Waits(store, log);
    this.desk = new TaskDesk({
      store,
      types: store,
      bulk,
      waits: this.#waits,
      wake,
      sender: this.#dispatcher,
      cancelled,
    });
    this.typeDesk = new TaskTypeDesk({ store: limits, wake });
    this.failureDesk = new TaskFailureDesk({ store: failures, types: store, tasks: this.desk, wake });
    this.figureDesk = new TaskFigureDesk(figures);
    const over = (tasks: TaskId[]): void => {
      this.over(tasks);
      if (tasks.length > 0) parts.flowEnds();
    };
    this.#takers = new WaitingTakers({ store: takes, queue, promoted: () => this.#dispatcher.wake(), over, log });
    this.#leases = new TaskLeases({ store: takes, tally, wake, over, log });
    this.takeDesk = new TaskTakeDesk({ store: takes, takers: this.#takers, queue, tally, wake, madeRoom, over, log });
    this.#prover = new TaskProver({ store: proofs, markers: this.#broker, isCaughtUp, wake, over, log });
    this.#retention = new TaskRetention({ days, figures, requests, services: ledger, retentionMs, log });
    this.#folder = new TaskFigureFolder({ store: figures, log });
  }

  start(): void {
    const { amqp, stores, errors, tally, log } = this.#parts;
    const { ledger: store, days, refused } = stores.tasks;
    const ledger = new TaskLedger({
      store,
      creations: new TaskCreations(stores.tasks.store, this.#parts.creationPools),
      refused: new RefusedParams(refused, (text) => createHash("sha256").update(text).digest("hex").slice(0, 16)),
      tally,
      unwanted: (sends) => void this.#broker.cancel(sends),
      behind: (pools) => this.#prover.booksAreBehind(pools),
      committed: (over, { hasFlowEnds, made }) => {
        this.over(over);
        if (made === "more") this.wake();
        else if (made === "room") this.#madeRoom();
        if (hasFlowEnds) this.#parts.flowEnds();
      },
    });
    this.#broker.start({ ledger, errors, days, reporter: amqp.managerId, log });
    this.#dispatcher.start();
    this.#takers.start();
    this.#leases.start();
    this.#prover.start();
    this.#retention.start();
    this.#folder.start();
  }

  /** Nobody waits for an end any more, or for a task to take. */
  endWaits(): void {
    this.#waits.close();
    void this.#takers.close();
  }

  /** A schedule, or a flow, has cancelled some; they may run still. */
  cancelled(over: TaskId[], refuse: UnwantedSend[]): void {
    this.over(over);
    this.#refuse(refuse);
  }

  #refuse(sends: UnwantedSend[]): void {
    if (sends.length > 0) void this.#broker.cancel(sends);
    this.#dispatcher.cancelNow();
  }

  /** As TaskBroker has them. */
  get failingForMs(): number {
    return this.#broker.failingForMs;
  }
  stateQueue(): Promise<QueueDepth | null> {
    return this.#broker.stateQueue();
  }

  /** Something may be due, or there may be room. */
  wake(): void {
    this.#dispatcher.wake();
    this.#takers.wake();
  }

  #madeRoom(): void {
    this.#dispatcher.madeRoom();
    this.#takers.wake();
  }

  /** These are over. */
  over(tasks: readonly TaskId[]): void {
    this.#waits.over(tasks);
    if (tasks.length > 0) this.#parts.ended();
  }

  async close(): Promise<void> {
    await Promise.all([
      this.#prover.stop(),
      this.#retention.stop(),
      this.#takers.close(),
      this.#dispatcher.stop(),
      this.#leases.stop(),
      this.#folder.stop(),
      this.#broker.close(),
    ]);
  }
}
