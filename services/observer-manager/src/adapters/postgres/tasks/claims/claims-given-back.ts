import type { DataSource } from "typeorm";

/** Tasks of one type that were given back; `since` is as PostgreSQL writes it, as a Date has no microseconds. */
export interface GivenBack {
  type: string;
  count: number;
  since: string;
}

/** Sums up what `back` gives back, which has `type` and `sent_at`; as SQL. */
export const GIVEN_BACK = "SELECT type, count(*)::int AS count, min(sent_at)::text AS since FROM back GROUP BY type";

/**
 * Takes them off the claim by which they were sent, while it is kept, and the later ones: what went to a call with others has the time of
 * their first, and was counted a little later. It does not begin with the newest, which may be another's and counts for longer: no second
 * may have more than the rate. Rows are locked in order, as in CLAIM.
 */
const UNCOUNT = `
  WITH types AS MATERIALIZED (
    SELECT l.type, l.claimed_at, l.claimed, b.count AS back, b.since
    FROM task_types l JOIN unnest($1::text[], $2::int[], $3::timestamptz[]) AS b (type, count, since) USING (type)
    WHERE b.since = ANY(l.claimed_at) ORDER BY l.type FOR UPDATE OF l)
  UPDATE task_types l SET claimed = ARRAY(
    SELECT CASE WHEN at < t.since THEN count ELSE count - least(count, greatest(0, t.back - before))::int END
    FROM (
      SELECT c.*, sum(count) FILTER (WHERE at >= t.since) OVER (ORDER BY place) - count AS before
      FROM unnest(t.claimed_at, t.claimed) WITH ORDINALITY AS c (at, count, place)) claims
    ORDER BY place)
  FROM types t WHERE l.type = t.type`;

/**
 * Nobody has these tasks, so they are no starts of their types: the rates have room for as many. It is a statement of its own, as who holds
 * tasks waits for no claim. Never rejects: what is given back is so without it. A crash before it, or a failure, leaves them counted for a
 * second.
 */
export async function uncount(db: DataSource, back: readonly GivenBack[]): Promise<void> {
  if (back.length === 0) return;
  const parameters = [back.map(({ type }) => type), back.map(({ count }) => count), back.map(({ since }) => since)];
  await db.query(UNCOUNT, parameters).catch(() => undefined);
}
