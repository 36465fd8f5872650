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
  RunEndReason,
  RunId,
  RunStopReason,
  ServiceAlive,
  ServiceId,
  ServiceState,
  SlotDeath,
  SlotReport,
} from "@unacked/contracts";
import type { Unapplied } from "./received-message.ts";

/** What one batch of events changed, for metrics. It decides nothing. */
export type Happening =
  | { kind: "run-started" }
  | { kind: "run-ended"; reason: RunEndReason }
  /** The observer's next run is known. `withoutRunMs`: since the books knew that it had none; 0 when they met the next one first. */
  | { kind: "failed-over"; withoutRunMs: number }
  /** A service dropped a second message of a revision that it runs. */
  | { kind: "duplicate-dropped" }
  | { kind: "service-ended"; how: "Stopped" | "Gone" };

/** The part of an observer's row that decisions need. */
export interface ObserverBook {
  readonly id: ObserverId;
  status: ObserverStatus;
  /** What is under way beside it. */
  pending: Pending | null;
  revision: number;
  /** The manager's count of the observer's runs. */
  epoch: number;
  currentRunId: RunId | null;
  attempts: number;
  lastError: ErrorText | null;
  /** Until the next attempt, counted from the moment the books are written; null when no attempt is awaited. */
  nextAttemptInMs: number | null;
  /** Its time to start had not come when it was loaded. */
  readonly startsLater: boolean;
  /** How long the row had been as it was when it was loaded, by PostgreSQL's clock. */
  readonly unchangedForMs: number;
  /** Why it lost its run in this very batch. */
  lostRunBy?: RunEndReason;
}

/** Current: the observer's own · Superseded: told to stop, not yet ended · Ended. */
export type RunState = "Current" | "Superseded" | "Ended";

export interface RunBook {
  readonly id: RunId;
  readonly observerId: ObserverId;
  readonly serviceId: ServiceId;
  generation: number;
  readonly messageId: MessageId;
  readonly revision: number;
  readonly epoch: number;
  /** As its service told it; null of runs of 0.1.0, and of those that were first heard of by their end. */
  deliveryCount: number | null;
  readonly startedAtMs: number;
  state: RunState;
  endReason: RunEndReason | null;
  /** What made it begin again through no fault of its own. */
  interruption: string | null;
  /** The service's clock, for display; null when only the manager knows of the end: then it is the time of writing. */
  endedAtMs: number | null;
  error: ErrorText | null;
}

/** asked: a client wants it, and the service has not answered · begun: it says itself that it drains. Of a boot for good. */
export type DrainState = "none" | "asked" | "begun";

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
  readonly id: ServiceId;
  readonly name: string;
  pool: string;
  state: ServiceState;
  drain: DrainState;
  generation: number;
  lastSeq: number;
  workerCount: number;
  running: number;
  types: ObserverTypeInfo[];
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
  /** Its whole inventory was read just now. */
  gaveInventory?: boolean;
  /** What the inventory that was read just now answered. */
  answered?: InventoryProof;
}

/** What is to be sent. The key says what there can be only one of. */
export type Command =
  | { kind: "start"; observerId: ObserverId; revision: number; delayMs: number }
  | { kind: "stop"; observerId: ObserverId; revision: number }
  | {
      kind: "stop-run";
      observerId: ObserverId;
      runId: RunId;
      messageId: MessageId;
      revision: number;
      serviceId: ServiceId;
      generation: number;
      reason: RunStopReason;
    }
  | { kind: "restart-run"; observerId: ObserverId; runId: RunId; serviceId: ServiceId; generation: number }
  | { kind: "report-inventory"; serviceId: ServiceId; generation: number; proof?: InventoryProof | null }
  | { kind: "probe" | "drain"; serviceId: ServiceId; generation: number };

export const COMMAND_KINDS = [
  "start",
  "stop",
  "stop-run",
  "restart-run",
  "report-inventory",
  "probe",
  "drain",
] satisfies Command["kind"][];

/** A command to be written, or one of that key to be forgotten. */
export type CommandChange = { want: Command } | { forget: CommandKey };

export type CommandKey =
  | { kind: "start" | "stop"; observerId: ObserverId }
  | { kind: "stop-run" | "restart-run"; runId: RunId }
  | { kind: "report-inventory" | "probe" | "drain"; serviceId: ServiceId; generation: number };

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
  /** In order, for metrics, once the books are committed. */
  readonly happened: Happening[] = [];
  /** What of these messages this manager does not understand. */
  readonly unapplied: Unapplied[] = [];
  /** Markers that came out of a work queue. */
  readonly markersSeen = new Set<string>();
  /** Whose messages were seen, and how long ago: the proofs of these markers must not judge them if that was since they began. */
  readonly givenBack: { markerId: string; observerId: ObserverId; agoMs: number }[] = [];
  /** The last word on each command wins. */
  readonly commands = new Map<string, CommandChange>();
  /** For these nothing more is to be sent but what `commands` wants: whatever there was is forgotten, of every kind. */
  readonly quietObservers = new Set<ObserverId>();
  readonly quietRuns = new Set<RunId>();

  constructor(inventories: InventoryParts) {
    this.inventories = inventories;
  }

  want(command: Command): void {
    this.commands.set(keyText(command), { want: command });
  }

  forget(key: CommandKey): void {
    this.commands.set(keyText(key), { forget: key });
  }

  forgetAllOfObserver(observerId: ObserverId): void {
    this.quietObservers.add(observerId);
    for (const kind of ["start", "stop"] as const) this.commands.delete(keyText({ kind, observerId }));
  }

  forgetAllOfRun(runId: RunId): void {
    this.quietRuns.add(runId);
    for (const kind of ["stop-run", "restart-run"] as const) this.commands.delete(keyText({ kind, runId }));
  }

  /** The runs of a service that have not ended, as far as they are loaded. */
  livingRunsOf(serviceId: ServiceId): RunBook[] {
    return [...this.runs.values()].filter((run) => run.serviceId === serviceId && run.state !== "Ended");
  }
}

function keyText(key: CommandKey): string {
  switch (key.kind) {
    case "start":
    case "stop":
      return `${key.kind} ${key.observerId}`;
    case "stop-run":
    case "restart-run":
      return `${key.kind} ${key.runId}`;
    case "report-inventory":
    case "probe":
    case "drain":
      return `${key.kind} ${key.serviceId} ${key.generation}`;
    default:
      return key satisfies never;
  }
}

/** The parts of inventories that have arrived so far; it outlives a batch, not the manager. */
export class InventoryParts {
  readonly #open = new Map<string, { parts: Set<number>; runIds: Set<RunId> }>();

  /** The ids of all listed runs once the last part has come, or null when a part was not seen (by this manager). */
  collect(inventory: Inventory): Set<RunId> | null {
    const entry = this.#open.get(inventory.inventoryId) ?? { parts: new Set(), runIds: new Set() };
    this.#open.set(inventory.inventoryId, entry);
    entry.parts.add(inventory.part);
    for (const run of inventory.runs) entry.runIds.add(run.runId);
    if (inventory.part < inventory.parts) return null;
    // Kept until the next but few, as a rolled back transaction brings the last part again.
    if (this.#open.size > 100) this.#open.delete(this.#open.keys().next().value as string);
    return entry.parts.size === inventory.parts ? entry.runIds : null;
  }
}

/** What a service says of its slots; nothing where it has none, and of an older version. */
export function slotsOf({ slots = [], slotDeaths = [], slotDeathsLately = 0 }: ServiceAlive): SlotsBook {
  return { slots, slotDeaths, slotDeathsLately };
}

/** Nothing of an older version. */
export function intakeOf({ consuming = true, notConsuming }: ServiceAlive): IntakeBook {
  return { notConsuming: consuming ? null : (notConsuming ?? null) };
}
