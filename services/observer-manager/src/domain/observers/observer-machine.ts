import type { ObserverStatus, Pending, ProblemCode } from "@unacked/contracts";

/**
 * The life of an observer as one table: every (status × pending × input) cell is decided, "ignore" included.
 * docs/state-machine.md is generated from it. Which run an event belongs to is decided before, in `current-run.ts`.
 */
export const OBSERVER_INPUTS = [
  "run-requested",
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
  "delete-asking",
  "force-delete",
  "restart",
  "pause",
  "resume",
  "resume-early",
  "resume-changed",
  "update",
  "tell-update",
  "start-due",
] as const;

/**
 * - run-requested: a run asks whether its handler may start
 * - run-current: a run has become the observer's current one
 * - run-retrying: its handler threw and waits for the next attempt, still unacked
 * - run-stopped, run-failed, run-completed: the run is over and its message is acked
 * - run-lost: the run ended without the observer being over; the broker has its message
 * - start-refused: a service remembered a stop of this revision and acked the message
 * - type-unknown: a service does not know the type and acked the message
 * - absent: the reconciler proved that neither broker nor services have it
 * - delete, force-delete, restart, pause, resume: what a client asked for
 * - delete-asking: a delete while a run of it asks whether it may start: somebody has it, and can be told
 * - resume-early: a resumption before the observer's time to start has come
 * - resume-changed: a resumption while the pause is under way, of what was changed since its message was sent
 * - update: what a handler is given was changed; also asked where a change takes nothing of that, whether it is allowed
 * - tell-update: what it takes as it runs was changed; or its run is found to be behind
 * - start-due: that time has come, and there is a worker for it, or it need not have one
 */
export type ObserverInput = (typeof OBSERVER_INPUTS)[number];

/**
 * - send-start: a new message with revision + 1, at once · send-start-later: the same after a pause
 * - send-stop: broadcast a stop, again until it is answered · stop-run: stop just the run that appeared
 * - admit: the handler of the run that asks may start, again until it is heard
 * - tell-run: say to the current run what is wanted, again until it is answered
 * - restart-run: stop and start the current run in place · forget: no start and no stop is wanted any more
 * - abandon: the same, and its message stays where it stands
 * - forget-stop: the stop is not said again; a service that has heard it may follow it still
 */
export type ObserverAction =
  | "send-start"
  | "send-start-later"
  | "send-stop"
  | "stop-run"
  | "restart-run"
  | "tell-run"
  | "admit"
  | "forget"
  | "abandon"
  | "forget-stop";

export type ObserverDecision =
  | { kind: "go"; to: ObserverStatus; pending: Pending | null; actions: readonly ObserverAction[] }
  | { kind: "ignore"; actions: readonly ObserverAction[] }
  | { kind: "refuse"; problem: ProblemCode };

/** Nothing is pending afterwards. */
const go = (to: ObserverStatus, ...actions: ObserverAction[]): ObserverDecision => ({
  kind: "go",
  to,
  pending: null,
  actions,
});
/** A pause begins, or goes on. */
const pausing = (to: ObserverStatus, ...actions: ObserverAction[]): ObserverDecision => ({
  kind: "go",
  to,
  pending: "pause",
  actions,
});
/** An update begins, or goes on. */
const updating = (to: ObserverStatus, ...actions: ObserverAction[]): ObserverDecision => ({
  kind: "go",
  to,
  pending: "update",
  actions,
});
const ignore = (...actions: ObserverAction[]): ObserverDecision => ({ kind: "ignore", actions });
const refuse = (problem: ProblemCode): ObserverDecision => ({ kind: "refuse", problem });

type Row = Record<ObserverInput, ObserverDecision>;

/** A run is current: Processing or Retrying. */
const running: Row = {
  "start-due": ignore(),
  "run-requested": ignore("admit"),
  "run-current": go("Processing"),
  "run-retrying": go("Retrying"),
  "run-stopped": go("Created", "send-start"),
  "run-failed": go("Failed", "forget"),
  "run-completed": go("Completed", "forget"),
  "run-lost": go("Redistributing"),
  // Both come only where its message was at another service meanwhile, and is nowhere any more (run-events.ts).
  "start-refused": go("Created", "send-start"),
  "type-unknown": go("Created", "send-start-later"),
  absent: go("Created", "send-start"),
  delete: go("OnDeleting", "send-stop"),
  "delete-asking": go("OnDeleting", "send-stop"),
  "force-delete": go("OnDeleting", "send-stop"),
  restart: ignore("restart-run"),
  pause: pausing("Processing", "send-stop"),
  resume: refuse("not-paused"),
  "resume-early": refuse("not-paused"),
  "resume-changed": refuse("not-paused"),
  update: updating("Processing", "send-stop"),
  "tell-update": ignore("tell-run"),
};

/** No run is current, one is awaited: Created or Redistributing. */
const awaited: Row = {
  "start-due": ignore(),
  "run-requested": ignore("admit"),
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
  "delete-asking": go("OnDeleting", "send-stop"),
  "force-delete": go("OnDeleting", "send-stop"),
  restart: refuse("not-restartable"),
  pause: pausing("Redistributing", "send-stop"),
  resume: refuse("not-paused"),
  "resume-early": refuse("not-paused"),
  "resume-changed": refuse("not-paused"),
  update: updating("Redistributing", "send-stop"),
  // The run that comes is told, if it was given something older.
  "tell-update": ignore(),
};

/**
 * A pause is under way, and a stop is broadcast until it is answered. Whatever tells that there is no message any more ends it
 * in Paused; a run that appears is told to stop like the one before. Its handler may also end by itself: then it is over.
 */
const toBePaused: Row = {
  "start-due": ignore(),
  "run-requested": ignore("send-stop"),
  "run-current": pausing("Processing", "send-stop"),
  "run-retrying": ignore(),
  "run-stopped": go("Paused", "forget"),
  "run-failed": go("Failed", "forget"),
  "run-completed": go("Completed", "forget"),
  "run-lost": ignore(),
  "start-refused": go("Paused", "forget"),
  "type-unknown": go("Paused", "forget"),
  absent: go("Paused", "forget"),
  delete: go("OnDeleting", "send-stop"),
  "delete-asking": go("OnDeleting", "send-stop"),
  "force-delete": go("OnDeleting", "send-stop"),
  restart: refuse("paused"),
  pause: ignore(),
  // What has followed the stop is sent again as its end is told, by the row without a pause.
  resume: go("Redistributing", "forget-stop"),
  "resume-early": go("Redistributing", "forget-stop"),
  // What was changed meanwhile does not run on as it was.
  "resume-changed": updating("Redistributing", "send-stop"),
  update: ignore(),
  "tell-update": ignore(),
};

/**
 * It was changed, and a stop is broadcast until it is answered. Whatever tells that there is no message any more has it sent again, as it
 * is wanted by then; its handler's own end, too, as that was of what nobody wants any more.
 */
const toBeUpdated: Row = {
  "start-due": ignore(),
  "run-requested": ignore("send-stop"),
  "run-current": updating("Processing", "send-stop"),
  "run-retrying": ignore(),
  "run-stopped": go("Created", "forget-stop", "send-start"),
  "run-failed": go("Created", "forget-stop", "send-start"),
  "run-completed": go("Created", "forget-stop", "send-start"),
  "run-lost": ignore(),
  "start-refused": go("Created", "forget-stop", "send-start"),
  "type-unknown": go("Created", "forget-stop", "send-start-later"),
  absent: go("Created", "forget-stop", "send-start"),
  delete: go("OnDeleting", "send-stop"),
  "delete-asking": go("OnDeleting", "send-stop"),
  "force-delete": go("OnDeleting", "send-stop"),
  restart: refuse("not-restartable"),
  pause: pausing("Redistributing", "send-stop"),
  resume: refuse("not-paused"),
  "resume-early": refuse("not-paused"),
  "resume-changed": refuse("not-paused"),
  // The newest spec is sent in any case.
  update: ignore(),
  "tell-update": ignore(),
};

/** There is no job, though the observer is not deleted: Failed or Completed, Paused or Scheduled. A redelivery never changes it. */
const over: Row = {
  "start-due": ignore(),
  "run-requested": ignore("stop-run"),
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
  "delete-asking": go("Deleted", "forget"),
  "force-delete": go("Deleted", "forget"),
  restart: go("Created", "send-start"),
  pause: refuse("not-pausable"),
  resume: refuse("not-paused"),
  "resume-early": refuse("not-paused"),
  "resume-changed": refuse("not-paused"),
  // The change holds when it runs again.
  update: ignore(),
  "tell-update": ignore(),
};

export const OBSERVER_MACHINE: Record<ObserverStatus, Row> = {
  Created: {
    ...awaited,
    delete: refuse("not-activated"),
    "force-delete": go("Deleted", "abandon"),
    // Its start, if it is still to be sent, is not taken back: whether it was can be told by nobody then.
    pause: pausing("Created", "send-stop"),
    update: updating("Created", "send-stop"),
  },
  Processing: running,
  Retrying: { ...running, pause: pausing("Retrying", "send-stop"), update: updating("Retrying", "send-stop") },
  Redistributing: awaited,
  OnDeleting: {
    "start-due": ignore(),
    "run-requested": ignore("send-stop"),
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
    "delete-asking": refuse("already-deleting"),
    "force-delete": go("Deleted", "abandon"),
    restart: refuse("already-deleting"),
    pause: refuse("already-deleting"),
    resume: refuse("already-deleting"),
    "resume-early": refuse("already-deleting"),
    "resume-changed": refuse("already-deleting"),
    update: refuse("already-deleting"),
    "tell-update": ignore(),
  },
  Scheduled: {
    ...over,
    restart: refuse("scheduled"),
    pause: go("Paused"),
    "start-due": go("Created", "send-start"),
  },
  Paused: {
    ...over,
    restart: refuse("paused"),
    pause: ignore(),
    resume: go("Created", "send-start"),
    "resume-early": go("Scheduled"),
  },
  Deleted: {
    ...over,
    delete: refuse("already-deleted"),
    "delete-asking": refuse("already-deleted"),
    "force-delete": refuse("already-deleted"),
    restart: refuse("already-deleted"),
    pause: refuse("already-deleted"),
    resume: refuse("already-deleted"),
    "resume-early": refuse("already-deleted"),
    "resume-changed": refuse("already-deleted"),
    update: refuse("already-deleted"),
  },
  Failed: over,
  Completed: over,
};

/** These rows hold where something is pending beside the status. */
export const PENDING_MACHINE: Record<Pending, Partial<Record<ObserverStatus, Row>>> = {
  pause: {
    Created: {
      ...toBePaused,
      delete: refuse("not-activated"),
      "force-delete": go("Deleted", "abandon"),
      resume: go("Created", "forget-stop"),
      "resume-early": go("Created", "forget-stop"),
      "resume-changed": updating("Created", "send-stop"),
    },
    Processing: {
      ...toBePaused,
      "run-retrying": pausing("Retrying"),
      "run-lost": pausing("Redistributing"),
      resume: go("Processing", "forget-stop"),
      "resume-early": go("Processing", "forget-stop"),
      "resume-changed": updating("Processing", "send-stop"),
    },
    Retrying: {
      ...toBePaused,
      "run-retrying": pausing("Retrying"),
      "run-lost": pausing("Redistributing"),
      resume: go("Retrying", "forget-stop"),
      "resume-early": go("Retrying", "forget-stop"),
      "resume-changed": updating("Retrying", "send-stop"),
    },
    Redistributing: toBePaused,
  },
  update: {
    Created: {
      ...toBeUpdated,
      delete: refuse("not-activated"),
      "force-delete": go("Deleted", "abandon"),
      pause: pausing("Created", "send-stop"),
    },
    Processing: {
      ...toBeUpdated,
      "run-retrying": updating("Retrying"),
      "run-lost": updating("Redistributing"),
      // It starts again anyway.
      restart: ignore(),
      pause: pausing("Processing", "send-stop"),
    },
    Retrying: {
      ...toBeUpdated,
      "run-retrying": updating("Retrying"),
      "run-lost": updating("Redistributing"),
      restart: ignore(),
      pause: pausing("Retrying", "send-stop"),
    },
    Redistributing: toBeUpdated,
  },
};

/** Nothing is pending beside a status that no such row knows; the books' CHECK holds it. */
export const decide = (status: ObserverStatus, input: ObserverInput, pending: Pending | null = null): ObserverDecision =>
  ((pending !== null && PENDING_MACHINE[pending][status]) || OBSERVER_MACHINE[status])[input];
