import { AUDITED_ACTIONS, AUDITED_KINDS, type AuditEntry, type AuditedKind, type QueryOf } from "@unacked/contracts";

/** What the audit trail is narrowed to; it stands in the page's address, as it was typed: a name may go on after a space. */
export interface AuditFilter {
  action: AuditEntry["action"] | "";
  /** A name. */
  actor: string;
  /** The id or name of what it was done to. */
  target: string;
  /** Narrows a target alone. */
  targetKind: AuditedKind | "";
}

export function auditFilterOf(search: string): AuditFilter {
  const given = new URLSearchParams(search);
  const text = (name: string) => given.get(name) ?? "";
  const action = AUDITED_ACTIONS.find((one) => one === given.get("action")) ?? "";
  const targetKind = AUDITED_KINDS.find((one) => one === given.get("targetKind")) ?? "";
  return { action, actor: text("actor"), target: text("target"), targetKind };
}

export function addressOfAudit(filter: Partial<AuditFilter>): string {
  const given = Object.entries(filter).filter(([, value]) => value !== "");
  return given.length === 0 ? "/audit" : `/audit?${new URLSearchParams(given)}`;
}

export const isNarrowed = ({ action, actor, target }: AuditFilter): boolean => `${action}${actor}${target}` !== "";

export const queryOf = ({ action, actor, target, targetKind }: AuditFilter): QueryOf<"listAudit"> => ({
  ...(action !== "" && { action }),
  ...(actor.trim() !== "" && { actor: actor.trim() }),
  ...(target.trim() !== "" && { target: target.trim(), ...(targetKind !== "" && { targetKind }) }),
});
