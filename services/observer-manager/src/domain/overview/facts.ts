import type { PoolStats, QueueType, ServiceView } from "@unacked/contracts";

/** A pool's queue that cannot be had, and why. */
export interface QueueTrouble {
  pool: string;
  detail: string;
  remedy: string;
}

/** The queue of a pool that has no living service and no observer that is not over. */
export interface UnwantedQueue {
  pool: string;
  /** Messages that nobody holds. */
  ready: number;
  consumers: number;
}

/** The broker that has the work queues, and of which type they are there. */
export interface QueueBroker {
  brokerVersion: string;
  queueType: QueueType;
}

/** A session on the database of the books. */
export interface DatabaseSession {
  /** 0: a prepared transaction, which has no session any more. */
  pid: number;
  user: string;
  /** What its client calls itself; "" if nothing. */
  application: string;
}

/** A transaction on the database of the books that is open for long. */
export interface LongSnapshot extends DatabaseSession {
  openForS: number;
}

/** A transaction that holds locks for which the managers wait. */
export interface BooksBlocker extends DatabaseSession {
  openForS: number;
  /** How many sessions of the managers wait for it. */
  waiting: number;
}

/** What waits because no living service of its pool has its type, or none that takes work. */
export interface UnservedType {
  kind: "observer" | "task";
  pool: string;
  type: string;
  count: number;
  /** False: there are more. */
  isExact: boolean;
  /** Those among them that found no worker at their time, and have no message yet. */
  unsent: number;
  /** Services of its pool that have it, and drain or are cordoned. */
  resting: readonly string[];
  /** Other pools whose services have it. */
  elsewhere: readonly string[];
}

/** Observers whose time to start has come, and that found no worker then. */
export interface LateStarts {
  pool: string;
  type: string;
  count: number;
}

/** A service whose connection ended, without a word of it before. */
export interface GoneService {
  name: string;
  pool: string;
  host: string;
  goneAt: Date;
}

/** Timers that are due and that no queue takes. */
export interface UnheardTimers {
  name: string;
  count: number;
  /** Some of them were refused by a queue, or not confirmed; the others were taken by none. */
  isRefused: boolean;
  /** When the one that is tried for longest was due. */
  since: Date;
}

/** Observers of a pool that run and have had no beat for longer than they may. */
export interface SilentObservers {
  pool: string;
  count: number;
  /** The one that is silent for longest has been so since then. */
  since: Date;
  /** Three at most: those that are silent for longest. */
  names: string[];
}

/** Observers of a pool that began again and again in the last 10 minutes. */
export interface RestartedObservers {
  pool: string;
  count: number;
  /** How often the one began again that did so most. */
  most: number;
  /** Three at most: those that did so most. */
  names: string[];
}

/** Observers of a pool that wait in the queue of another, which they are to leave. */
export interface WaitingElsewhere {
  pool: string;
  type: string;
  count: number;
}

/** A pool with a service that is far from its share. */
export interface UnevenPool {
  pool: string;
  /** Which service, and how far. */
  why: string;
  /** How many moves make it even, or as even as its types let it be. */
  moves: number;
}

/** What warnings are made from. */
export interface Facts {
  pools: readonly PoolStats[];
  /** Living services. */
  services: readonly Pick<
    ServiceView,
    "name" | "state" | "brokerLoss" | "brokenFiles" | "slotDeaths" | "slotDeathsLately" | "lastSeenAt"
  >[];
  /** Batches of events that wait in the state queue; null while the broker cannot be asked. */
  stateQueueLag: number | null;
  /** The broker takes nothing that is published: a memory or disk alarm. */
  brokerBlocks: boolean;
  queueTroubles: readonly QueueTrouble[];
  unwantedQueues: readonly UnwantedQueue[];
  /** Null while the broker cannot be asked. */
  queueBroker: QueueBroker | null;
  booksBlockers: readonly BooksBlocker[];
  longSnapshots: readonly LongSnapshot[];
  lateStarts: readonly LateStarts[];
  unservedTypes: readonly UnservedType[];
  goneServices: readonly GoneService[];
  unheardTimers: readonly UnheardTimers[];
  silentObservers: readonly SilentObservers[];
  restartedObservers: readonly RestartedObservers[];
  unevenPools: readonly UnevenPool[];
}
