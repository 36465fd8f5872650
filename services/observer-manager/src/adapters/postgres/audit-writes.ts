import { MAX_AUDITED_TARGETS } from "@unacked/contracts";
import type { EntityManager } from "typeorm";
import type { DeedDone } from "../../flows/audit.ts";

/** A deed that takes several transactions has one row, which each of them adds to. Index: audit_pkey. */
const RECORD = `
  INSERT INTO audit (id, actor, role, authentication, address, request_id, deed, count, targets, details)
  SELECT id, actor, role, authentication, address, request_id, deed, count, targets::jsonb, details::jsonb
  FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::int[], $9::text[],
              $10::text[]) AS u (id, actor, role, authentication, address, request_id, deed, count, targets, details)
  ON CONFLICT (id) DO UPDATE SET
    count = audit.count + excluded.count,
    targets = (SELECT jsonb_agg(target ORDER BY place)
               FROM jsonb_array_elements(audit.targets || excluded.targets) WITH ORDINALITY AS t (target, place)
               WHERE place <= ${MAX_AUDITED_TARGETS})`;

export async function recordDeeds(tx: EntityManager, done: DeedDone[]): Promise<void> {
  if (done.length === 0) return;
  await tx.query(RECORD, [
    done.map(({ deed }) => deed.id),
    done.map(({ deed }) => deed.by.name),
    done.map(({ deed }) => deed.by.role),
    done.map(({ deed }) => deed.by.authentication),
    done.map(({ deed }) => deed.by.address),
    done.map(({ deed }) => deed.by.requestId),
    done.map(({ deed }) => deed.kind),
    done.map(({ count }) => count),
    done.map(({ targets }) => JSON.stringify(targets)),
    done.map(({ deed }) => JSON.stringify(deed.details)),
  ]);
}
