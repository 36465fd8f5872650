import type { DataSource } from "typeorm";

/**
 * A dump brings transaction numbers of the server that it is from. A row with a number that this server has yet to give is, to a proof of
 * absence, never older than the proof (pg_visible_in_snapshot): an observer whose message is lost was never sent again, and a stop or a
 * pause of it never came to its end, until the counter got there, which may take years. What is visible has a number below xmax
 * (https://www.postgresql.org/docs/current/functions-info.html#FUNCTIONS-PG-SNAPSHOT), so no other rows match.
 */
const FROM_ELSEWHERE = "changed_xid >= pg_snapshot_xmax(pg_current_snapshot())";
const AT_ONCE = 2_000;

/**
 * Indexes: observers_changed, services_changed. SKIP LOCKED: another manager has these, or they are being changed, and get a number of this
 * server by that.
 */
const ADOPT = ["observers", "services"].map(
  (table) => `
  UPDATE ${table} SET changed_xid = pg_current_xact_id() WHERE id = ANY(ARRAY(
    SELECT id FROM ${table} WHERE ${FROM_ELSEWHERE} ORDER BY changed_xid, id LIMIT ${AT_ONCE} FOR UPDATE SKIP LOCKED))`,
);

/** A proof that was begun on the other server takes all that is changed here for older than itself. One row per pool. */
const FORGET_PROOFS =
  "DELETE FROM absence_proofs WHERE pg_snapshot_xmax(coalesce(pair_snapshot, snapshot)) > pg_snapshot_xmax(pg_current_snapshot())";

/** Gives rows that a dump brought from another server numbers of this one. A crash leaves the rest for the next start. @returns how many */
export async function adoptRestoredRows(dataSource: DataSource): Promise<number> {
  await dataSource.query(FORGET_PROOFS);
  let adopted = 0;
  for (const statement of ADOPT)
    for (let count = AT_ONCE; count > 0; adopted += count)
      [, count] = await dataSource.query<[unknown[], number]>(statement);
  return adopted;
}
