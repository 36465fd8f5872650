import type { AuditEntry } from "@unacked/contracts";
import { jsonText } from "./document-text.ts";
import { type Listing, MAX_MESSAGE } from "./listing.ts";
import { shortened } from "./plain-text.ts";

export const AUDIT_LISTING: Listing<AuditEntry> = {
  nameOf: (entry) => entry.id,
  columns: [
    { heading: "AT", cell: ({ at }) => at },
    { heading: "WHO", cell: ({ actor }) => actor.name },
    { heading: "ROLE", cell: ({ actor }) => actor.role },
    { heading: "BY", cell: ({ actor }) => actor.authentication },
    { heading: "ACTION", cell: ({ action }) => action },
    { heading: "COUNT", cell: ({ count }) => String(count), alignsRight: true },
    { heading: "TO", cell: targetNames },
    { heading: "FROM", cell: ({ actor }) => actor.address, isWide: true },
    { heading: "REQUEST", cell: ({ requestId }) => requestId, isWide: true },
    { heading: "DETAILS", cell: ({ details }) => detailsText(details), isWide: true },
  ],
};

function targetNames({ targets, count }: AuditEntry): string {
  const more = count > targets.length ? ", …" : "";
  return `${shortened(targets.map(({ name, id }) => name ?? id).join(", "), MAX_MESSAGE)}${more}`;
}

const detailsText = (details: AuditEntry["details"]): string => (Object.keys(details).length === 0 ? "" : jsonText(details));
