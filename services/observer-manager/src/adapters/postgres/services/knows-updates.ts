import type { ServiceId } from "@unacked/contracts";
import type { EntityManager } from "typeorm";
import type { KnowsUpdates } from "../../../domain/observers/spec-change.ts";

/** Index: services_pkey. */
const KNOWS = `
  SELECT features ? 'hot-update' AS word, type_facts @> jsonb_build_array(jsonb_build_object('type', $2::text, 'onUpdate', true)) AS "onUpdate"
  FROM services WHERE id = $1`;

export async function knowsUpdates(tx: EntityManager, service: ServiceId, type: string): Promise<KnowsUpdates> {
  const [row] = await tx.query<KnowsUpdates[]>(KNOWS, [service, type]);
  return row ?? { word: false, onUpdate: false };
}
