import type {
  BrokenFile,
  BrokerLoss,
  ErrorText,
  Inventory,
  InventoryProof,
  MessageId,
  ObserverId,
  ObserverStatus,
  ObserverTypeInfo,
  Pending,
  ReloadEnded,
  RunEndReason,
  RunId,
  ServiceAlive,
  ServiceId,
  ServiceState,
  SlotDeath,
  SlotReport,
} from "@unacked/contracts";
import { type RunCount, RunFigureSums } from "../observers/run-figures.ts";
import type { RunStep } from "../observers/run-story.ts";
import { type Command, type CommandChange, type CommandKey, keyText, TO_OBSERVER, TO_RUN } from "./command.ts";
import type { ReceivedMessage, Unapplied } from "./received-message.ts";

/** What one batch of events changed, for metrics. It decides nothing. */
export type Happening =
  | { kind: "run-started" }
  | { kind: "run-ended"; reason: RunEndReason }
  /** The observer's next run is known. `withoutRunMs`: since the books knew that it had none; 0 when they met the next one first. */
  | { kind: "failed-over"; withoutRunMs: number }
  /** A service dropped a second message of a revision that it runs. */
  | { kind: "duplicate-dropped" }
  | { kind: "service-ended"; how: "Stopped" | "Gone" };

/** An update that a run has rejected, and what it runs on with. */
export interface Rejection {
  specVersion: number;
  reason: string;
  /** The time is by its service's clock. */
  atMs: number;
  keeps: { specVersion: number; params: unknown };
}

/** The part of an observer's row that decisions need. */
export interface ObserverBook {
  readonly id: ObserverId;
  readonly type: string;
  status: ObserverStatus;
  /** What is under way beside the status. */
  pending: Pending | null;
  revision: number;
  /** The version of the spec that is wanted. */
  specVersion: number;
  /** The lowest version with which a run is as wanted: nothing that was changed after it has to reach a run. */
  neededSpecVersion: number;
  /** The message of the present revision has this version, or a later one. */
  sentSpecVersion: number;
  rejectedUpdate: Rejection | null;
  /** The pool as it is wanted. */
  pool: string;
  /** The pool whose queue has its message, where that is another pool, or where a forced delete has left the message behind. */
  messagePool: string | null;
  /** The manager's count of the observer's runs. */
  runNumber: number;
  /** The highest fencing token that a run of it was given; null: none was. */
  fencingToken: number | null;
  currentRunId: RunId | null;
  /** The run that waits for its admission. */
  requestedRunId: RunId | null;
  attempts: number;
  /** What the batch that is read now has told is whole. Of an error that stands in the books only the name is loaded. */
  lastError: ErrorText | Pick<ErrorText, "name"> | null;
  /** Since when its run has had no beat, by its service's clock, if it is silent. */
  silentSinceMs: number | null;
  /** The time until the next attempt, counted from the moment the books are written; null when no attempt is awaited. */
  nextAttemptInMs: number | null;
  /** Milliseconds of PostgreSQL's clock when it was loaded. */
  readonly clockMs: number;
  /** Its time to start had not come when it was loaded. */
  readonly startsLater: boolean;
  /** How long the row had been as it was when it was loaded, by PostgreSQL's clock. */
  readonly unchangedForMs: number;
  /** How often its handler began again, in this very batch. */
  restarts?: number;
  /** Why it lost its run in this very batch. */
  lostRunBy?: RunEndReason;
}

/** Requested: it waits for its admission · Current: the observer's own · Superseded: told to stop, not yet ended · Ended. */
export type RunState = "Requested" | "Current" | "Superseded" | "Ended";

export interface RunBook {
  readonly id: RunId;
  readonly observerId: ObserverId;
  readonly serviceId: ServiceId;
  generation: number;
  readonly messageId: MessageId;
  readonly revision: number;
  /** It is the observer's first, second, … */
  readonly runNumber: number;
  /** A run of a type that asks before it starts was given this token, or is to be given it. */
  fencingToken: number | null;
  /** Its service told it; null for runs of 0.1.0, and for those that were first heard of by their end. */
  deliveryCount: number | null;
  /** The version that it runs by; null where its service did not say it. */
  specVersion: number | null;
  readonly startedAtMs: number;
  state: RunState;
  endReason: RunEndReason | null;
  /** What made it begin again through no fault of its own. */
  interruption: string | null;
  /** The service's clock, for display; null when only the manager knows of the end: then it is the time of writing. */
  endedAtMs: number | null;
  error: ErrorText | null;
  /** What happened in it meanwhile. */
  story: readonly RunStep[];
}

export interface SavedCheckpoint {
  observerId: ObserverId;
  fencingToken: number;
  number: number;
  /** JSON, which nobody but its type reads. */
  value: string;
}

/**
 * asked: a client wants a drain, and the service has not answered · begun: it says itself that it drains · cordon-asked, cordoned: the
 * same of a cordon · lift-asked: it is to take work again, and has not said that it does. Of one boot.
 */
export type DrainState = "none" | "asked" | "begun" | "cordon-asked" | "cordoned" | "lift-asked";

/** What is sent until the service has answered. */
export const ORDER_OF = { asked: "drain", "cordon-asked": "cordon", "lift-asked": "uncordon" } as const satisfies Partial<
  Record<DrainState, Command["kind"]>
>;

/** What a service said of a load of its folder that it was asked for. `at`: by its own clock. */
export type ReloadAnswer = Omit<ReloadEnded, "kind" | "reloadId">;

/** What a service said last of its slots. */
export interface SlotsBook {
  slots: SlotReport[];
  /** The newest first. */
  slotDeaths: SlotDeath[];
  /** How many in the last 10 minutes ended by what nobody wanted. */
  slotDeathsLately: number;
}

/** What a service said last of its intake. */
export interface IntakeBook {
  /** Why it takes no observers for now, for want of memory; null: it does, or that is not why. */
  notConsuming: string | null;
}

export interface ServiceBook extends SlotsBook, IntakeBook {
  /** How many it has emitted since its boot, by type, as it told last; null: it has not told these books. */
  emits: Readonly<Record<string, number>> | null;
  readonly id: ServiceId;
  readonly name: string;
  pool: string;
  state: ServiceState;
  drain: DrainState;
  generation: number;
  lastSeq: number;
  workerCount: number;
  running: number;
  /** The types as the batch that is read now announces them; absent: it says nothing of them, and those in the books hold. */
  types?: ObserverTypeInfo[];
  version: string;
  host: string;
  pid: number;
  heartbeatMs: number;
  /** What it announced that it can do. */
  features: string[];
  brokenFiles: BrokenFile[];
  memoryBytes: number;
  eventLoopLagMs: number;
  endReason: string | null;
  brokerLoss: BrokerLoss | null;
  /** The load of its folder that was asked for last; null: none was. */
  readonly reloadId: string | null;
  /** What became of that one; null: it has not told. */
  reloadAnswer: ReloadAnswer | null;
  /** Its whole inventory was read just now. */
  gaveInventory?: boolean;
  /** What the inventory that was read just now answered. */
  answered?: InventoryProof;
}

/**
 * The rows that one batch of events touches, loaded and locked; decisions change them in memory and note which ones,
 * so that each table is then written by one statement however many events there were.
 */
export class Books {
  readonly observers = new Map<ObserverId, ObserverBook>();
  readonly runs = new Map<RunId, RunBook>();
  readonly services = new Map<ServiceId, ServiceBook>();
  /** Services of the same name as one in this batch that still count as living. */
  readonly namesakes: { id: ServiceId; name: string; generation: number }[] = [];
  readonly changedObservers = new Set<ObserverBook>();
  readonly changedRuns = new Set<RunBook>();
  readonly changedServices = new Set<ServiceBook>();
  readonly inventories: InventoryParts;
  /** Whether that connection of a service is known to be dead before the books have been told. */
  isDead: (source: { serviceId: ServiceId; generation: number }) => boolean = () => false;
  /** The trace of the call that the changes are made for; every command that they want carries it on. */
  traceContext: string | undefined;
  /** What this batch adds to the figures by minute. */
  readonly figures = new RunFigureSums();
  /** Kept in order. Metrics are told once the books are committed. */
  readonly happened: Happening[] = [];
  /** What of these messages this manager does not understand. */
  readonly unapplied: Unapplied[] = [];
  /** What runs have saved, by run: the last of each in this batch. */
  readonly savedCheckpoints = new Map<RunId, SavedCheckpoint>();
  /** Runs whose checkpoint begins as a copy of what they are given: that of the started run with the highest fencing token. */
  readonly givenCheckpoints = new Map<RunId, ObserverId>();
  /** Runs that have started, and save: from now on theirs counts. */
  readonly startedSavers = new Map<RunId, { observerId: ObserverId; fencingToken: number; number: number }>();
  /** Markers that came out of a work queue. */
  readonly markersSeen = new Set<string>();
  /** Observers whose messages were seen, and how long ago. The proof of the marker must not judge them if that was since it began. */
  readonly givenBack: { markerId: string; observerId: ObserverId; agoMs: number }[] = [];
  /** The last word on each command wins. */
  readonly commands = new Map<string, CommandChange>();
  /** Nothing is to be sent to these but what `commands` wants: all their other commands are forgotten, of every kind. */
  readonly quietObservers = new Set<ObserverId>();
  readonly quietRuns = new Set<RunId>();

  constructor(inventories: InventoryParts) {
    this.inventories = inventories;
  }

  /** Counts nothing for an observer that is not loaded. */
  count({ observerId, serviceId }: Pick<RunBook, "observerId" | "serviceId">, what: RunCount, by = 1): void {
    const observer = this.observers.get(observerId);
    if (observer && by > 0) this.figures.add(observer.type, serviceId, what, by);
  }

  want(command: Command): void {
    this.commands.set(keyText(command), { want: command });
  }

  forget(key: CommandKey): void {
    this.commands.set(keyText(key), { forget: key });
  }

  forgetAllOfObserver(observerId: ObserverId): void {
    this.quietObservers.add(observerId);
    for (const kind of TO_OBSERVER) this.commands.delete(keyText({ kind, observerId }));
  }

  forgetAllOfRun(runId: RunId): void {
    this.quietRuns.add(runId);
    for (const kind of TO_RUN) this.commands.delete(keyText({ kind, runId }));
  }

  /** The runs of a service that have not ended, as far as they are loaded. */
  livingRunsOf(serviceId: ServiceId): RunBook[] {
    return [...this.runs.values()].filter((run) => run.serviceId === serviceId && run.state !== "Ended");
  }
}

/** Limits the inventories whose last part does not come: their service has ended, or another manager has read it. */
const OPEN_AT_MOST = 100;

/** The parts of inventories that have arrived so far; it outlives a batch, not the manager. */
export class InventoryParts {
  /** The inventory of which a part came last stands last. */
  readonly #open = new Map<string, { parts: Set<number>; runIds: Set<RunId> }>();

  /** The ids of all listed runs once the last part has come, or null when a part was not seen (by this manager). */
  collect({ inventoryId, part, parts, runs }: Inventory): Set<RunId> | null {
    const entry = this.#open.get(inventoryId) ?? { parts: new Set(), runIds: new Set() };
    this.#open.delete(inventoryId);
    this.#open.set(inventoryId, entry);
    entry.parts.add(part);
    for (const run of runs) entry.runIds.add(run.runId);
    if (part < parts) return null;
    if (this.#open.size > OPEN_AT_MOST) this.#open.delete(this.#open.keys().next().value as string);
    return entry.parts.size === parts ? entry.runIds : null;
  }

  /** Only a rolled back transaction brings the last part again, and the ids of 10,000 runs take a megabyte. */
  committed(messages: readonly ReceivedMessage[]): void {
    for (const event of messages.flatMap((message) => (message.kind === "EventBatch" ? message.events : [])))
      if (event.kind === "Inventory" && event.part === event.parts) this.#open.delete(event.inventoryId);
  }
}

/** What a service says of its slots. One that has none, or is of an older version, says nothing. */
export function slotsOf({ slots = [], slotDeaths = [], slotDeathsLately = 0 }: ServiceAlive): SlotsBook {
  return { slots, slotDeaths, slotDeathsLately };
}

/** A service of an older version says nothing of this: it takes observers. */
export function intakeOf({ consuming = true, notConsuming }: ServiceAlive): IntakeBook {
  return { notConsuming: consuming ? null : (notConsuming ?? null) };
}
