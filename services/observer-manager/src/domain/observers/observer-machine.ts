import type { ObserverStatus, ProblemCode } from "@unacked/contracts";

/**
 * The life of an observer as one table: every (status × input) cell is decided, "ignore" included.
 * docs/state-machine.md is generated from it. Which run an event belongs to is decided before, in `current-run.ts`.
 */
export const OBSERVER_INPUTS = [
  "run-current",
  "run-retrying",
  "run-stopped",
  "run-failed",
  "run-completed",
  "run-lost",
  "start-refused",
  "type-unknown",
  "absent",
  "delete",
  "force-delete",
  "restart",
] as const;

/**
 * - run-current: a run has become the observer's current one
 * - run-retrying: its handler threw and waits for the next attempt, still unacked
 * - run-stopped, run-failed, run-completed: the run is over and its message is acked
 * - run-lost: the run ended without the observer being over; the broker has its message
 * - start-refused: a service remembered a stop of this revision and acked the message
 * - type-unknown: a service does not know the type and acked the message
 * - absent: the reconciler proved that neither broker nor services have it
 * - delete, force-delete, restart: what a client asked for
 */
export type ObserverInput = (typeof OBSERVER_INPUTS)[number];

/**
 * - send-start: a new message with revision + 1, at once · send-start-later: the same after a pause
 * - send-stop: broadcast a stop, again until it is answered · stop-run: stop just the run that appeared
 * - restart-run: stop and start the current run in place · forget: no start and no stop is wanted any more
 */
export type ObserverAction = "send-start" | "send-start-later" | "send-stop" | "stop-run" | "restart-run" | "forget";

export type ObserverDecision =
  | { kind: "go"; to: ObserverStatus; actions: readonly ObserverAction[] }
  | { kind: "ignore"; actions: readonly ObserverAction[] }
  | { kind: "refuse"; problem: ProblemCode };

const go = (to: ObserverStatus, ...actions: ObserverAction[]): ObserverDecision => ({ kind: "go", to, actions });
const ignore = (...actions: ObserverAction[]): ObserverDecision => ({ kind: "ignore", actions });
const refuse = (problem: ProblemCode): ObserverDecision => ({ kind: "refuse", problem });

type Row = Record<ObserverInput, ObserverDecision>;

/** A run is current: Processing or Retrying. */
const running: Row = {
  "run-current": go("Processing"),
  "run-retrying": go("Retrying"),
  "run-stopped": go("Created", "send-start"),
  "run-failed": go("Failed", "forget"),
  "run-completed": go("Completed", "forget"),
  "run-lost": go("Redistributing"),
  "start-refused": ignore(),
  "type-unknown": ignore(),
  absent: go("Created", "send-start"),
  delete: go("OnDeleting", "send-stop"),
  "force-delete": go("OnDeleting", "send-stop"),
  restart: ignore("restart-run"),
};

/** No run is current, one is awaited: Created or Redistributing. */
const awaited: Row = {
  "run-current": go("Processing"),
  "run-retrying": ignore(),
  "run-stopped": go("Created", "send-start"),
  "run-failed": go("Failed", "forget"),
  "run-completed": go("Completed", "forget"),
  "run-lost": ignore(),
  "start-refused": go("Created", "send-start"),
  "type-unknown": go("Created", "send-start-later"),
  absent: go("Created", "send-start"),
  delete: go("OnDeleting", "send-stop"),
  "force-delete": go("OnDeleting", "send-stop"),
  restart: refuse("not-restartable"),
};

/** The job is over, though the observer is not deleted: Failed or Completed. A redelivery never changes it. */
const over: Row = {
  "run-current": ignore("stop-run"),
  "run-retrying": ignore(),
  "run-stopped": ignore(),
  "run-failed": ignore(),
  "run-completed": ignore(),
  "run-lost": ignore(),
  "start-refused": ignore(),
  "type-unknown": ignore(),
  absent: ignore(),
  delete: go("Deleted", "forget"),
  "force-delete": go("Deleted", "forget"),
  restart: go("Created", "send-start"),
};

export const OBSERVER_MACHINE: Record<ObserverStatus, Row> = {
  Created: { ...awaited, delete: refuse("not-activated"), "force-delete": go("Deleted", "forget") },
  Processing: running,
  Retrying: running,
  Redistributing: awaited,
  OnDeleting: {
    "run-current": go("OnDeleting", "send-stop"),
    "run-retrying": ignore(),
    "run-stopped": go("Deleted", "forget"),
    "run-failed": go("Deleted", "forget"),
    "run-completed": go("Deleted", "forget"),
    "run-lost": go("OnDeleting"),
    "start-refused": go("Deleted", "forget"),
    "type-unknown": go("Deleted", "forget"),
    absent: go("Deleted", "forget"),
    delete: refuse("already-deleting"),
    "force-delete": go("Deleted", "forget"),
    restart: refuse("already-deleting"),
  },
  Deleted: {
    ...over,
    delete: refuse("already-deleted"),
    "force-delete": refuse("already-deleted"),
    restart: refuse("already-deleted"),
  },
  Failed: over,
  Completed: over,
};

export const decide = (status: ObserverStatus, input: ObserverInput): ObserverDecision => OBSERVER_MACHINE[status][input];
