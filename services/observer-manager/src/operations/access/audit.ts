import {
  type AuditedAction,
  type AuditedKind,
  type AuditedTarget,
  MAX_AUDITED_TARGETS,
  newAuditId,
} from "@unacked/contracts";
import type { AuditedActor } from "../../domain/access/identity.ts";
import { grouped } from "../../domain/grouped.ts";
import type { ObserverRef } from "../observers/observer-tools.ts";

export interface AuditQuery {
  /** Their name. */
  actor?: string;
  action?: AuditedAction;
  /** It is among the targets that are named. */
  observer?: ObserverRef;
  /** The same for any target, by its id or name. */
  target?: string;
  targetKind?: AuditedKind;
  requestId?: string;
  /** ISO 8601: entries from `since` on, and before `until`. */
  since?: string;
  until?: string;
  limit: number;
  after?: AuditPosition;
}

export interface AuditPosition {
  atMicros: string;
  id: string;
}

/** One call of one client that changes something: one entry of the audit trail, however many transactions it takes. */
export interface Action {
  id: string;
  kind: AuditedAction;
  by: AuditedActor;
  details: Record<string, unknown>;
}

/** What one transaction did of an action. */
export interface ActionDone {
  action: Action;
  count: number;
  /** The first of them. */
  targets: AuditedTarget[];
}

export const newAction = (kind: AuditedAction, by: AuditedActor, details: Record<string, unknown> = {}): Action => ({
  id: newAuditId(),
  kind,
  by,
  // Values that were not given are left out, so that the trail shows what was: `false` may be what was asked.
  details: Object.fromEntries(Object.entries(details).filter(([, value]) => value !== undefined)),
});

export const doneTo = (action: Action, observers: { id: string; name: string }[], count = observers.length): ActionDone => ({
  action,
  count,
  targets: observers.slice(0, MAX_AUDITED_TARGETS).map(({ id, name }) => ({ kind: "observer", id, name })),
});

/** Makes one entry a call, however many observers it created. */
export const doneToEach = (created: readonly { action: Action; observer: { id: string; name: string } }[]): ActionDone[] =>
  [...grouped(created, ({ action }) => action)].map(([action, of]) =>
    doneTo(
      action,
      of.map(({ observer }) => observer),
    ),
  );

export const doneToTaskType = (action: Action, type: string): ActionDone => ({
  action,
  count: 1,
  targets: [{ kind: "task-type", id: type, name: type }],
});

/** Tasks have no name. */
export const doneToTasks = (action: Action, ids: string[], count = ids.length): ActionDone => ({
  action,
  count,
  targets: ids.slice(0, MAX_AUDITED_TARGETS).map((id) => ({ kind: "task", id, name: null })),
});

export const doneToFlow = (action: Action, { id, name }: { id: string; name: string | null }): ActionDone => ({
  action,
  count: 1,
  targets: [{ kind: "flow", id, name }],
});

/** Makes one entry a call, however many timers it changed. */
export const doneToTimers = (changes: readonly { action: Action; timer: { id: string; name: string } }[]): ActionDone[] =>
  [...grouped(changes, ({ action }) => action)].map(([action, of]) => ({
    action,
    count: of.length,
    targets: of.slice(0, MAX_AUDITED_TARGETS).map(({ timer: { id, name } }) => ({ kind: "timer", id, name })),
  }));

export const doneToSchedule = (action: Action, id: string): ActionDone => ({
  action,
  count: 1,
  targets: [{ kind: "schedule", id, name: id }],
});
