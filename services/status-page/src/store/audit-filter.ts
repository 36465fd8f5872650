import { AUDITED_ACTIONS, type AuditEntry, type QueryOf } from "@unacked/contracts";

/** What the audit trail is narrowed to; it stands in the page's address, as it was typed: a name may go on after a space. */
export interface AuditFilter {
  action: AuditEntry["action"] | "";
  /** A name. */
  actor: string;
  /** An observer's name or id. */
  observer: string;
}

export function auditFilterOf(search: string): AuditFilter {
  const given = new URLSearchParams(search);
  const text = (name: string) => given.get(name) ?? "";
  const action = AUDITED_ACTIONS.find((one) => one === given.get("action")) ?? "";
  return { action, actor: text("actor"), observer: text("observer") };
}

export function addressOfAudit(filter: Partial<AuditFilter>): string {
  const given = Object.entries(filter).filter(([, value]) => value !== "");
  return given.length === 0 ? "/audit" : `/audit?${new URLSearchParams(given)}`;
}

export const isNarrowed = ({ action, actor, observer }: AuditFilter): boolean => `${action}${actor}${observer}` !== "";

export const queryOf = ({ action, actor, observer }: AuditFilter): QueryOf<"listAudit"> => ({
  ...(action !== "" && { action }),
  ...(actor.trim() !== "" && { actor: actor.trim() }),
  ...(observer.trim() !== "" && { observer: observer.trim() }),
});
