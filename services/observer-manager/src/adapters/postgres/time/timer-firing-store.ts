import type { DataSource } from "typeorm";
import type { Claim, DueTimer, Firing, FiringOutcome, TimerFiringStore } from "../../../operations/time/timer-store.ts";
import { prepared } from "../connection/prepared.ts";
import { keepEnded } from "./timer-view.ts";

/** By PostgreSQL's own clock, which no test shifts. */
const LEASE = "now() + interval '6 seconds'";
const RENEW = `
  INSERT INTO timer_owners (id, lease_until) VALUES ($1, ${LEASE})
  ON CONFLICT (id) DO UPDATE SET lease_until = excluded.lease_until`;

/** Index: timers_due. There is always a row: without a timer where none was claimed. */
const CLAIM = `
  WITH lease AS (${RENEW}),
  picked AS MATERIALIZED (SELECT id, expired FROM unacked_pick_timers($3)),
  gone AS (DELETE FROM timers WHERE id = ANY(ARRAY(SELECT id FROM picked WHERE expired)) RETURNING *),
  kept AS (${keepEnded("gone", "Expired")} RETURNING id),
  due AS (
    UPDATE timers SET status = 'Firing', owner = $1, claim_id = $2
    WHERE id = ANY(ARRAY(SELECT id FROM picked WHERE NOT expired))
    RETURNING id, name, payload::text AS payload, extract(epoch FROM due_at)::float8 * 1000 AS "atMs",
              extract(epoch FROM unacked_now() - due_at)::float8 * 1000 AS "lateMs")
  SELECT due.*, expired FROM (SELECT count(*)::int AS expired FROM kept) k LEFT JOIN due ON true`;

/** Of a publish that is known to have been confirmed: by whichever claim, it fired. */
const FIRED = prepared(`
  WITH gone AS (DELETE FROM timers WHERE id = ANY($1) AND status = 'Firing' RETURNING *),
       kept AS (${keepEnded("gone", "Fired")} RETURNING id)
  SELECT count(*)::int AS count FROM kept`);

const release = (set: string): string => `
  UPDATE timers t SET owner = NULL, claim_id = NULL, ${set}
  FROM unnest($1::uuid[], $2::uuid[]) AS u (id, claim_id) WHERE t.id = u.id AND t.claim_id = u.claim_id`;

const AS_BEFORE = "status = CASE WHEN unsure THEN 'Firing' ELSE 'Waiting' END";
/** 1 s, 2 s, 4 s … 30 s, and not past its end, at which it is to be seen to expire. */
const LATER =
  "next_at = least(expires_at, unacked_now() + least(30, power(2, least(returns, 5))) * interval '1 second'), returns = returns + 1";

const RELEASES: Record<Exclude<FiringOutcome, "fired">, string> = {
  returned: release(`${AS_BEFORE}, last_problem = 'returned', ${LATER}`),
  refused: release(`unsure = true, last_problem = 'refused', ${LATER}`),
  unknown: release("unsure = true, last_problem = 'unknown', next_at = unacked_now()"),
  "not-sent": release(AS_BEFORE),
};

/** Reads all of `timers`: no index tells what is in flight, so that a claim writes to none. Once or twice after a failure. */
const DISOWN = `
  UPDATE timers SET owner = NULL, claim_id = NULL, ${AS_BEFORE} WHERE owner = $1 AND NOT claim_id = ANY($2)`;

/** Index: timers_due. */
const NEXT_DUE = `
  SELECT extract(epoch FROM min(next_at) - unacked_now())::float8 * 1000 AS ms FROM timers WHERE owner IS NULL`;

/** Each claim renews its owner's lease in the same statement: whoever has timers in flight has one. */
const LAPSED = `SELECT id AS owner, lease_until::text AS "leaseUntil" FROM timer_owners WHERE lease_until < now()`;

/** Who has renewed it meanwhile keeps them. Reads all of `timers`, once for a manager that is gone. */
const TAKE_OVER = `
  WITH dead AS (DELETE FROM timer_owners WHERE id = ANY($1) AND lease_until < now() RETURNING id),
  taken AS (
    UPDATE timers t SET owner = NULL, claim_id = NULL, unsure = true, last_problem = 'unknown', next_at = unacked_now()
    WHERE owner = ANY(ARRAY(SELECT id FROM dead)) RETURNING 1)
  SELECT count(*)::int AS count FROM taken`;

/** Others look for what it has left behind. */
const LEAVE = "UPDATE timer_owners SET lease_until = now() - interval '1 second' WHERE id = $1";

/** Index: ended_timers_by_end. SKIP LOCKED: two managers sweep side by side. */
const FORGET = `
  WITH gone AS (
    DELETE FROM ended_timers WHERE id = ANY(ARRAY(
      SELECT id FROM ended_timers WHERE ended_at < unacked_now() - $1 * interval '1 millisecond'
      LIMIT $2 FOR UPDATE SKIP LOCKED)) RETURNING 1)
  SELECT count(*)::int AS count FROM gone`;

type ClaimRow = { [Field in keyof DueTimer]: DueTimer[Field] | null } & { expired: number };

export class PostgresTimerFiringStore implements TimerFiringStore {
  readonly #dataSource: DataSource;

  constructor(dataSource: DataSource) {
    this.#dataSource = dataSource;
  }

  async claim({ owner, claimId }: Claim, limit: number): ReturnType<TimerFiringStore["claim"]> {
    const rows = await this.#dataSource.query<ClaimRow[]>(CLAIM, [owner, claimId, limit]);
    const due = rows.flatMap((row) => (row.id === null ? [] : [row as DueTimer & ClaimRow]));
    return { due, expired: rows[0]?.expired ?? 0 };
  }

  async disown(owner: string, known: readonly string[]): Promise<void> {
    await this.#dataSource.query(DISOWN, [owner, known]);
  }

  async settle(firings: readonly Firing[]): Promise<void> {
    const fired = firings.filter(({ outcome }) => outcome === "fired");
    if (fired.length > 0) await this.#dataSource.query(FIRED, [fired.map(({ id }) => id)]);
    for (const [outcome, statement] of Object.entries(RELEASES)) {
      const some = firings.filter((one) => one.outcome === outcome);
      if (some.length === 0) continue;
      await this.#dataSource.query(statement, [some.map(({ id }) => id), some.map(({ claimId }) => claimId)]);
    }
  }

  async nextDueInMs(): Promise<number | null> {
    const [row] = await this.#dataSource.query<{ ms: number | null }[]>(NEXT_DUE);
    return row?.ms ?? null;
  }

  async renew(owner: string): Promise<void> {
    await this.#dataSource.query(RENEW, [owner]);
  }

  lapsed(): ReturnType<TimerFiringStore["lapsed"]> {
    return this.#dataSource.query(LAPSED);
  }

  async takeOver(owners: readonly string[]): Promise<number> {
    const [row] = await this.#dataSource.query<{ count: number }[]>(TAKE_OVER, [owners]);
    return row?.count ?? 0;
  }

  async leave(owner: string): Promise<void> {
    await this.#dataSource.query(LEAVE, [owner]);
  }

  async forget(olderThanMs: number, limit: number): Promise<number> {
    const [row] = await this.#dataSource.query<{ count: number }[]>(FORGET, [olderThanMs, limit]);
    return row?.count ?? 0;
  }
}
