import type { EntityManager } from "typeorm";
import { prepared } from "../statements/prepared.ts";

/** The key space of advisory locks on pools; any number, the same for all managers. */
const POOL_LOCK_SPACE = 7_026;
const LOCK_POOL = prepared("SELECT pg_advisory_xact_lock($1, hashtext($2))");

/** One decision about a pool's workers at a time, until the transaction ends. Who locks observers as well locks those first. */
export async function lockPool(tx: EntityManager, pool: string): Promise<void> {
  await tx.query(LOCK_POOL, [POOL_LOCK_SPACE, pool]);
}
