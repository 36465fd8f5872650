import type { ReadinessCheck } from "@unacked/contracts";
import type { Tracing } from "@unacked/tracing";
import type { AmqpSettings } from "./adapters/amqp/amqp-settings.ts";
import { ObserverBroker } from "./adapters/amqp/observer-broker.ts";
import type { Channel } from "./adapters/postgres/connection/notifications.ts";
import type { Stores } from "./adapters/postgres/postgres-stores.ts";
import type { ErrorBook } from "./operations/books/books-store.ts";
import { LateEvents } from "./operations/books/late-events.ts";
import { Ledger } from "./operations/books/ledger.ts";
import { Retention } from "./operations/books/retention.ts";
import type { Wakeups } from "./operations/changes/change-log.ts";
import { Dispatcher } from "./operations/commands/dispatcher.ts";
import { ErrorDesk } from "./operations/errors/error-desk.ts";
import type { FeatureGate } from "./operations/features/feature-gate.ts";
import type { Log } from "./operations/log.ts";
import type { ManagerReads } from "./operations/manager-reads.ts";
import { AbsenceProver } from "./operations/observers/absence-prover.ts";
import { CheckpointDesk } from "./operations/observers/checkpoint-desk.ts";
import { ObserverLifecycle } from "./operations/observers/observer-lifecycle.ts";
import { Readoption } from "./operations/observers/readoption.ts";
import { Reconciler } from "./operations/observers/reconciler.ts";
import { ScheduledStarts } from "./operations/observers/scheduled-starts.ts";
import type { QueuesNow } from "./operations/pools/pool-queues.ts";
import { QueueCare } from "./operations/pools/queue-care.ts";
import { Prober } from "./operations/services/prober.ts";
import type { Tally } from "./operations/tally.ts";
import { TypeCheck } from "./operations/types/type-check.ts";

export interface ObserverSideParts {
  amqp: AmqpSettings;
  wakeups: (channel: Channel) => Wakeups;
  stores: Pick<Stores, "books" | "commands" | "pools" | "proofs" | "reconciliation"> &
    Pick<Stores, "retention" | "scheduledStarts" | "silence" | "types" | "unapplied">;
  features: Pick<FeatureGate, "mayGoOnWith" | "mayUse" | "nextReaderKnows">;
  reads: Pick<ManagerReads, "findObserver" | "readCheckpoint">;
  errors: ErrorBook;
  tally: Tally;
  retentionMs: number;
  log: Log;
  /** Undefined: nothing is traced. */
  tracing: Tracing | undefined;
}

/** Wires what the manager does for observers, and starts and ends it in order. It decides nothing. */
export class ObserverSide {
  readonly lifecycle: ObserverLifecycle;
  readonly checkpointDesk: CheckpointDesk;
  readonly errorDesk: ErrorDesk;
  readonly #broker: ObserverBroker;
  readonly #dispatcher: Dispatcher;
  readonly #prober: Prober;
  readonly #reconciler: Reconciler;
  readonly #scheduledStarts: ScheduledStarts;
  readonly #queueCare: QueueCare;
  readonly #retention: Retention;
  readonly #lateEvents: LateEvents;

  constructor({ stores, wakeups, features, reads, errors, tally, retentionMs, log, tracing, amqp }: ObserverSideParts) {
    const { books, commands, pools, proofs, types } = stores;
    const committed = () => this.wake();
    const isReady = () => this.isReady;
    const isCaughtUp = () => this.isCaughtUp;
    const typeCheck = new TypeCheck(types, () => features.mayGoOnWith("admission"));
    this.#broker = new ObserverBroker(
      { ...amqp, tracing },
      {
        ledger: new Ledger(books, amqp.managerId, tally),
        errors: new Readoption({ store: books, errors, retentionMs, committed, tally, log }),
        markerRead: (markerIds) => proofs.stateMarkersRead(markerIds),
        committed,
      },
    );
    this.#dispatcher = new Dispatcher(commands, this.#broker.sender, log, tally);
    wakeups("unacked_commands").onWake(committed);
    this.#prober = new Prober({ store: stores.silence, isCaughtUp, probed: committed, log });
    const prover = new AbsenceProver({
      store: proofs,
      markers: this.#broker.markers,
      repair: (...absent) => this.#reconciler.repair(...absent),
      committed,
      log,
    });
    this.#reconciler = new Reconciler({
      store: stores.reconciliation,
      books,
      queues: this.#broker.survey,
      prover,
      mayProve: (pool) => features.mayUse("queue-marker", pool),
      mayMark: () => features.nextReaderKnows("queue-marker"),
      isCaughtUp,
      committed,
      log,
    });
    this.#scheduledStarts = new ScheduledStarts({ store: stores.scheduledStarts, books, isReady, committed, log });
    this.#queueCare = new QueueCare({ store: pools, queues: this.#broker.workQueues, isCaughtUp, log });
    this.#retention = new Retention({ store: stores.retention, retentionMs, log });
    this.#lateEvents = new LateEvents({ store: stores.unapplied, books, committed, log });
    this.lifecycle = new ObserverLifecycle({
      store: books,
      types: typeCheck,
      isReady,
      mayPause: () => features.mayGoOnWith("pause"),
      mayUpdate: () => features.mayGoOnWith("update"),
      mayTell: () => features.mayGoOnWith("hot-update"),
      maySchedule: () => features.mayGoOnWith("scheduled"),
      committed,
      ownStarts: this.#dispatcher.ownStarts,
      log,
    });
    this.checkpointDesk = new CheckpointDesk({
      store: books,
      types,
      find: (ref) => reads.findObserver(ref),
      read: (id) => reads.readCheckpoint(id),
      isReady,
    });
    this.errorDesk = new ErrorDesk({ store: books, types: typeCheck, isReady, committed });
  }

  start(): void {
    this.#broker.start();
    this.#dispatcher.start();
    this.#prober.start();
    this.#reconciler.start();
    this.#scheduledStarts.start();
    this.#queueCare.start();
    this.#retention.start();
    this.#lateEvents.start();
  }

  /** Commands may have been written. */
  wake(): void {
    this.#dispatcher.wake();
  }

  /** The state queue has once been read empty: before, the books may be behind reality. */
  get isReady(): boolean {
    return this.#broker.catchUp.hasOnceCaughtUp;
  }

  /** It has, and nothing waits in it now. */
  get isCaughtUp(): boolean {
    return this.#broker.catchUp.isCaughtUp;
  }

  /** Consumers of the state queue, this manager among them; null while this one does not consume it. */
  get stateConsumers(): number | null {
    return this.#broker.catchUp.consumers;
  }

  get repairs(): Reconciler["counts"] {
    return this.#reconciler.counts;
  }

  /** As ObserverBroker has them. */
  get logs(): ObserverBroker["logs"] {
    return this.#broker.logs;
  }
  get connections(): ObserverBroker["connections"] {
    return this.#broker.connections;
  }
  get failingForMs(): ObserverBroker["failingForMs"] {
    return this.#broker.failingForMs;
  }
  get requestsReady(): number | undefined {
    return this.#broker.requestsReady;
  }
  queues(pools: string[]): Promise<QueuesNow | null> {
    return this.#broker.survey.queues(pools);
  }
  checks(): Record<string, ReadinessCheck> {
    return this.#broker.checks();
  }

  /** Rounds under way end while the books, and the broker, are there; no more of them begin. */
  async endRounds(): Promise<void> {
    const loops = [this.#prober, this.#reconciler, this.#queueCare, this.#retention, this.#lateEvents];
    await Promise.all(loops.map((loop) => loop.stop()));
  }

  async close(): Promise<void> {
    // Under an alarm only the publisher's end tells the dispatcher what became of what it is sending.
    await Promise.all([this.#scheduledStarts.stop(), this.#dispatcher.stop(), this.#broker.close()]);
  }
}
