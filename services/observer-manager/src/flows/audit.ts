import { type AuditedDeed, type AuditedTarget, MAX_AUDITED_TARGETS, newAuditId } from "@unacked/contracts";
import type { Actor } from "../domain/actor.ts";

/** One call of one client that changes something: one entry of the audit trail, however many transactions it takes. */
export interface Deed {
  id: string;
  kind: AuditedDeed;
  by: Actor;
  details: Record<string, unknown>;
}

/** What one transaction did of a deed. */
export interface DeedDone {
  deed: Deed;
  count: number;
  /** The first of them. */
  targets: AuditedTarget[];
}

export const newDeed = (kind: AuditedDeed, by: Actor, details: Record<string, unknown> = {}): Deed => ({
  ...{ id: newAuditId(), kind, by },
  // Without those that were not given, so that the trail shows what was.
  details: Object.fromEntries(Object.entries(details).filter(([, value]) => value !== undefined && value !== false)),
});

export const doneTo = (deed: Deed, observers: { id: string; name: string }[], count = observers.length): DeedDone => ({
  ...{ deed, count },
  targets: observers.slice(0, MAX_AUDITED_TARGETS).map(({ id, name }) => ({ kind: "observer", id, name })),
});
