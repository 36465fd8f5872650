import type { DataSource } from "typeorm";
import { CLAIM_HOLDS_MS } from "../../../operations/commands/command-store.ts";
import { prepared } from "../statements/prepared.ts";

/** Longer than any pause (settlement.ts) or claim: what is due later was written by a clock that has been set back since. */
const TOO_LATE = "now() + interval '2 minutes'";
const MOVED_AT_ONCE = 10_000;

/**
 * What is claimed counts, too: it is due when its claim runs out. Index: commands_due. Not `max(due_at)`: thousands that were claimed and
 * are gone lie at that end until they are vacuumed, and each look would go past them.
 */
const NEXT_DUE = prepared(`
  SELECT extract(epoch FROM min(due_at) - now()) * 1000 AS ms,
         (SELECT true FROM commands WHERE due_at > ${TOO_LATE} ORDER BY due_at LIMIT 1) IS TRUE AS "isAnyTooLate"
  FROM commands`);

/** A claim gets the time of one that is made now: a manager that lives renews it. Index: commands_due. */
const BY_THE_NEW_CLOCK = `
  UPDATE commands SET due_at = now() + CASE WHEN claim_id IS NULL THEN 0 ELSE ${CLAIM_HOLDS_MS} END * interval '1 millisecond'
  WHERE id = ANY(ARRAY(SELECT id FROM commands WHERE due_at > ${TOO_LATE} ORDER BY due_at LIMIT ${MOVED_AT_ONCE} FOR UPDATE SKIP LOCKED))`;

/** The time until the next command is due; null when there is none. What waits for a clock that was set back since is due at once. */
export async function readNextDueInMs(dataSource: DataSource): Promise<number | null> {
  const [row] = await dataSource.query<{ ms: string | null; isAnyTooLate: boolean }[]>(NEXT_DUE);
  if (row?.ms == null) return null;
  if (!row.isAnyTooLate) return Number(row.ms);
  await dataSource.query(BY_THE_NEW_CLOCK);
  return 0;
}
