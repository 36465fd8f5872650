import type { ObserverId, RunId, ServiceId } from "@unacked/contracts";
import type { Command } from "../../../services/observer-manager/src/domain/books/command.ts";
import type { ObserverBook } from "../../../services/observer-manager/src/domain/books/observer-book.ts";
import type { RunBook } from "../../../services/observer-manager/src/domain/books/run-book.ts";
import type { ServiceBook } from "../../../services/observer-manager/src/domain/books/service-book.ts";
import type { ActionDone } from "../../../services/observer-manager/src/operations/access/audit.ts";
import type {
  KeptEvent,
  NewError,
  UnknownRun,
} from "../../../services/observer-manager/src/operations/books/books-store.ts";
import type { NewObserver } from "../../../services/observer-manager/src/operations/observers/new-observer.ts";

/** An observer's row. The mark changes with each write, as `changed_xid` does. */
export interface ObserverRow extends ObserverBook {
  name: string;
  mark: number;
  content: Partial<NewObserver>;
}

/** What the tables of the books hold. */
export interface Tables {
  observers: Map<ObserverId, ObserverRow>;
  runs: Map<RunId, RunBook>;
  services: Map<ServiceId, ServiceBook>;
  commands: Map<string, Command>;
  errors: NewError[];
  kept: KeptEvent[];
  actions: ActionDone[];
  unknownRuns: Map<RunId, UnknownRun>;
  checkpoints: Map<ObserverId, { fencingToken: number; number: number; json: string | null }>;
  writes: number;
}

/** The columns of an observer that was created just now. */
export const NEW: Omit<ObserverBook, "id"> = {
  type: "ticker",
  status: "Created",
  pending: null,
  silentSinceMs: null,
  revision: 1,
  specVersion: 1,
  neededSpecVersion: 1,
  sentSpecVersion: 1,
  rejectedUpdate: null,
  pool: "default",
  messagePool: null,
  runNumber: 0,
  fencingToken: null,
  currentRunId: null,
  requestedRunId: null,
  clockMs: 0,
  attempts: 0,
  lastError: null,
  nextAttemptInMs: null,
  startsLater: false,
  unchangedForMs: 0,
};
