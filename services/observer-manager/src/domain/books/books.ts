import type { ObserverId, RunId, ServiceId } from "@unacked/contracts";
import { type RunCount, RunFigureSums } from "../observers/run-figures.ts";
import { type Command, type CommandChange, type CommandKey, keyText, TO_OBSERVER, TO_RUN } from "./command.ts";
import type { Happening } from "./happening.ts";
import type { InventoryParts } from "./inventory-parts.ts";
import type { ObserverBook } from "./observer-book.ts";
import type { Unapplied } from "./received-message.ts";
import type { RunBook } from "./run-book.ts";
import type { ServiceBook } from "./service-book.ts";

/** What a run has saved. */
export interface SavedCheckpoint {
  observerId: ObserverId;
  fencingToken: number;
  number: number;
  /** JSON, which nobody but its type reads. */
  value: string;
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
