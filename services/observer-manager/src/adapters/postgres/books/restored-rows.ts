import type { DataSource } from "typeorm";

/**
 * A dump brings the numbers of the transactions of the server that it is from. What was changed by one that this server has yet to give is, to a
 * proof of absence, never older than the proof (pg_visible_in_snapshot): an observer whose message is lost was never sent again, and a stop or a
 * pause of it never came to its end, until the counter got there, which may be years. What is visible has a number below xmax
 * (https://www.postgresql.org/docs/current/functions-info.html#FUNCTIONS-PG-SNAPSHOT), so these rows are no others.
 */
const FROM_ELSEWHERE = "changed_xid >= pg_snapshot_xmax(pg_current_snapshot())";
const AT_ONCE = 2_000;

/** Indexes: observers_changed, services_changed. SKIP LOCKED: another manager is at these, or they are being changed, and have a number by that. */
const ADOPT = ["observers", "services"].map(
  (table) => `
  UPDATE ${table} SET changed_xid = pg_current_xact_id() WHERE id = ANY(ARRAY(
    SELECT id FROM ${table} WHERE ${FROM_ELSEWHERE} ORDER BY changed_xid, id LIMIT ${AT_ONCE} FOR UPDATE SKIP LOCKED))`,
);

/** To one that was begun there all that is changed here is older than it. A row a pool. */
const FORGET_PROOFS =
  "DELETE FROM absence_proofs WHERE pg_snapshot_xmax(coalesce(pair_snapshot, snapshot)) > pg_snapshot_xmax(pg_current_snapshot())";

/** Gives what a dump has brought from another server numbers of this one. A crash leaves the rest for the next start. @returns how many */
export async function adoptRestoredRows(dataSource: DataSource): Promise<number> {
  await dataSource.query(FORGET_PROOFS);
  let adopted = 0;
  for (const statement of ADOPT)
    for (let count = AT_ONCE; count > 0; adopted += count)
      [, count] = await dataSource.query<[unknown[], number]>(statement);
  return adopted;
}
