import type { AuditedKind } from "@unacked/contracts";
import { useWhyNot } from "../live/use-session.ts";
import { Link } from "../shell/navigation.tsx";
import { addressOfAudit } from "../store/audit-filter.ts";
import css from "./who-did-what.module.css";

/** Leads to what was done to one thing, and by whom. Nothing for those who may not read the audit trail. */
export function WhoDidWhat({ kind, id }: { kind: AuditedKind; id: string }) {
  if (useWhyNot("listAudit") !== null) return null;
  return (
    <Link href={addressOfAudit({ target: id, targetKind: kind })} className={css.link}>
      Who did what<span className="unseen">{` to ${kind} ${id}`}</span>
    </Link>
  );
}
