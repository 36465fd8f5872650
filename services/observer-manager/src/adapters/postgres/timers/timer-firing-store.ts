import type { TimerId } from "@unacked/contracts";
import type { DataSource } from "typeorm";
import { DueFloor } from "../../../domain/due-floor.ts";
import type {
  Claim,
  DueTimer,
  FinishedClaim,
  TimerFiringStore,
  Tries,
  Unfired,
} from "../../../operations/timers/timer-store.ts";
import { ByTheNewClock } from "../statements/by-the-new-clock.ts";
import { MAX_CLAIM_BYTES } from "../statements/claim-bytes.ts";
import { Looks } from "../statements/looks.ts";
import { bytesOfAll } from "../statements/page-bytes.ts";
import { prepared } from "../statements/prepared.ts";
import { Vacuum } from "../upkeep/vacuum.ts";
import { FIRING, isOver, keepEnded } from "./timer-view.ts";

const msOf = (time: string): string => `extract(epoch FROM ${time})::float8 * 1000`;

/** Leases go by PostgreSQL's own clock, which no test shifts. */
const LEASE = "now() + interval '6 seconds'";
const RENEW = `
  INSERT INTO timer_owners (id, lease_until) VALUES ($1, ${LEASE})
  ON CONFLICT (id) DO UPDATE SET lease_until = excluded.lease_until`;

/**
 * Index: timers_due, or timers_again if $5, from $4 on (due-floor.ts). There is always a row: without a timer if none was claimed. What was
 * changed since the statement began lies where its snapshot does not look, and is left for the next; so is what is beyond MAX_CLAIM_BYTES.
 */
const CLAIM = `
  WITH clock AS MATERIALIZED (SELECT unacked_now() AS now),
  lease AS (${RENEW}),
  found AS MATERIALIZED (
    SELECT place, coalesce((SELECT ${bytesOfAll(["payload"])} FROM timers t WHERE t.ctid = d.place), 0) AS bytes FROM unacked_due_timers_from($4, $3, $5) d),
  sized AS MATERIALIZED (SELECT place, sum(bytes) OVER (ROWS UNBOUNDED PRECEDING) - bytes >= ${MAX_CLAIM_BYTES} AS is_beyond FROM found),
  gone AS (
    DELETE FROM timers WHERE ctid = ANY(ARRAY(SELECT place FROM sized WHERE NOT is_beyond)) RETURNING *, expires_at <= (SELECT now FROM clock) AS expired),
  kept AS (
    INSERT INTO ended_timers
      (id, name, payload, due_at, expires_at, status, returns, last_problem, created_at, ended_at, claim_id, default_expiry, unsure)
    SELECT id, name, payload, due_at, expires_at, CASE WHEN expired THEN 'Expired' ELSE 'Fired' END, returns, last_problem, created_at,
           (SELECT now FROM clock), CASE WHEN NOT expired THEN $2::uuid END, default_expiry, unsure FROM gone),
  claimed AS (
    INSERT INTO timer_claims (id, owner, ids) SELECT $2::uuid, $1::uuid, array_agg(id) FROM gone WHERE NOT expired HAVING count(*) > 0)
  SELECT due.*, facts.*, EXISTS (SELECT FROM sized WHERE is_beyond) AS "isCut"
  FROM (SELECT count(*) FILTER (WHERE expired)::int AS expired, ${msOf("(SELECT now FROM clock)")} AS "nowMs", ${msOf("max(next_at)")} AS "lastMs", ${msOf("clock_timestamp() - statement_timestamp()")} AS "tookMs" FROM gone) facts
  LEFT JOIN (
    SELECT id, name, payload::text AS payload, extract(epoch FROM due_at)::float8 * 1000 AS "atMs",
           extract(epoch FROM (SELECT now FROM clock) - due_at)::float8 * 1000 AS "lateMs" FROM gone WHERE NOT expired) due ON true`;

const AS_BEFORE = "CASE WHEN unsure THEN 'Firing' ELSE 'Waiting' END, unsure";
const MAYBE_HEARD = "'Firing', true";
/** Tries again after 1 s, 2 s, 4 s … 30 s, but not past its end, at which it is to be seen to expire. */
const LATER = "least(expires_at, unacked_now() + least(30, power(2, least(returns, 5))) * interval '1 second'), returns + 1";

/**
 * What becomes of one that could not be fired: status, unsure; last_problem; next_at, returns. `due_at` means at once: now would be hours
 * away once the clock is set back.
 */
const UNFIRED: Record<Unfired, string> = {
  returned: `${AS_BEFORE}, 'returned', ${LATER}`,
  refused: `${MAYBE_HEARD}, 'refused', ${LATER}`,
  "too-late": `${MAYBE_HEARD}, 'unknown', ${LATER}`,
  unknown: `${MAYBE_HEARD}, 'unknown', due_at, returns`,
  "not-sent": `${AS_BEFORE}, last_problem, due_at, returns`,
  "not-tried": `${AS_BEFORE}, 'refused', ${LATER}`,
};

/**
 * `back`: rows that were taken out of `ended_timers`. They go in one order, so that this and who sets timers do not wait for each
 * other.
 */
const intoTimers = (back: string, how: Unfired): string => `
  INSERT INTO timers (id, name, payload, due_at, expires_at, default_expiry, created_at, status, unsure, last_problem, next_at, returns)
  SELECT id, name, payload, due_at, expires_at, default_expiry, created_at, ${UNFIRED[how]} FROM ${back} ORDER BY id
  ON CONFLICT (id) DO NOTHING`;

/** All who lock these rows do so in one order, so that no two wait for each other. */
const inOrder = (where: string): string =>
  `ANY(ARRAY(SELECT e.id FROM ended_timers e WHERE ${where} ORDER BY e.id FOR UPDATE))`;

const giveBack = (how: Unfired): string => `
  WITH back AS (DELETE FROM ended_timers WHERE id = ${inOrder("e.id = ANY($1) AND e.claim_id = $2")} RETURNING *)
  ${intoTimers("back", how)}`;

const GIVE_BACK: Record<Unfired, string> = {
  returned: giveBack("returned"),
  refused: giveBack("refused"),
  "too-late": giveBack("too-late"),
  unknown: giveBack("unknown"),
  "not-sent": giveBack("not-sent"),
  "not-tried": giveBack("not-tried"),
};

const OF_CLAIMS = "e.id = ANY(ARRAY(SELECT unnest(ids) FROM claims)) AND e.claim_id = ANY(ARRAY(SELECT id FROM claims))";
const DISOWN = `
  WITH claims AS (DELETE FROM timer_claims WHERE id = ANY($1) RETURNING id, ids),
  back AS (DELETE FROM ended_timers WHERE id = ${inOrder(OF_CLAIMS)} RETURNING *) ${intoTimers("back", "not-sent")}`;

const FIRED_THERE = `
  UPDATE ended_timers SET claim_id = NULL, ended_at = unacked_now() WHERE id = ${inOrder("e.id = ANY($1) AND e.claim_id IS NOT NULL")}`;
/** For timers whose claim somebody took over. */
const FIRED_BACK = `
  WITH gone AS (DELETE FROM timers WHERE id = ANY($1) AND status = 'Firing' RETURNING *) ${keepEnded("gone", "Fired")}`;

const FINISH = prepared(`
  WITH gone AS (
    DELETE FROM timer_claims
    WHERE id = ANY(ARRAY(SELECT c.id FROM timer_claims c WHERE c.id = ANY($1) ORDER BY c.id FOR UPDATE)) RETURNING id)
  SELECT id FROM gone`);

const nextDue = (which: string): string => `
  SELECT ${msOf("unacked_now()")} AS "nowMs", ${msOf("min(next_at)")} AS "nextMs" FROM timers WHERE ${which} AND next_at >= $1::timestamptz`;
/** Indexes: timers_due, timers_again. */
const NEXT_DUE: Record<Tries, string> = { first: nextDue("returns = 0"), again: nextDue("returns > 0") };

/** Index: timers_again. */
const TRIED_AGAIN = { table: "timers", which: "returns > 0", dueAt: "due_at", nextAt: "next_at" };

/** A lease has run out, or was given by a clock that has been set back since: it would hold until that clock is there again. */
const IS_LAPSED = "(lease_until < now() OR lease_until > now() + interval '1 minute')";

/** Each claim renews its owner's lease in the same statement: whoever has timers in flight has one. */
const LAPSED = `SELECT id AS owner, lease_until::text AS "leaseUntil" FROM timer_owners WHERE ${IS_LAPSED}`;

/**
 * An owner that has renewed its lease meanwhile keeps them. A trigger of timer_owners gives back what its claims name; the count is of what
 * they named before.
 */
const TAKE_OVER = `
  WITH dead AS (DELETE FROM timer_owners WHERE id = $1 AND ${IS_LAPSED} RETURNING id)
  SELECT count(*)::int AS count FROM (${FIRING}) f WHERE f.owner = ANY(ARRAY(SELECT id FROM dead))`;

/** Others look for what it has left behind. */
const LEAVE = "UPDATE timer_owners SET lease_until = now() - interval '1 second' WHERE id = $1";

/**
 * Index: ended_timers_by_end, in its order: the table is not searched if nothing is old enough. SKIP LOCKED: two managers sweep side by
 * side.
 */
const FORGET = `
  WITH gone AS (
    DELETE FROM ended_timers WHERE id = ANY(ARRAY(
      SELECT id FROM ended_timers e WHERE ended_at < unacked_now() - $1 * interval '1 millisecond' AND ${isOver("e")}
      ORDER BY ended_at LIMIT $2 FOR UPDATE SKIP LOCKED)) RETURNING 1)
  SELECT count(*)::int AS count FROM gone`;

interface ClaimFacts {
  expired: number;
  isCut: boolean;
  nowMs: number;
  /** When the last one that was claimed was due; null: nothing was claimed. */
  lastMs: number | null;
  tookMs: number;
}

type ClaimRow = { [Field in keyof DueTimer]: DueTimer[Field] | null } & ClaimFacts;

interface NextRow {
  nowMs: number;
  nextMs: number | null;
}

const timeOf = (ms: number): string => (Number.isFinite(ms) ? new Date(ms).toISOString() : "-infinity");

export class PostgresTimerFiringStore implements TimerFiringStore {
  readonly #dataSource: DataSource;
  readonly #vacuum: Vacuum;
  readonly #triedAgain: ByTheNewClock;
  readonly #floors: Record<Tries, DueFloor> = { first: new DueFloor(), again: new DueFloor() };

  constructor(dataSource: DataSource) {
    this.#dataSource = dataSource;
    this.#vacuum = new Vacuum(dataSource, "timers");
    this.#triedAgain = new ByTheNewClock(dataSource, TRIED_AGAIN);
  }

  async claim({ owner, claimId }: Claim, limit: number, tries: Tries = "first"): ReturnType<TimerFiringStore["claim"]> {
    if (tries === "again") await this.#triedAgain.look(); // who is behind claims on and on, and asks for no next one
    const floor = this.#floors[tries];
    const from = floor.from(performance.now());
    const parameters = [owner, claimId, limit, timeOf(from), tries === "again"];
    const rows = await this.#dataSource.query<ClaimRow[]>(CLAIM, parameters);
    const due = rows.flatMap((row) => (row.id === null ? [] : [row as DueTimer & ClaimRow]));
    this.#vacuum.changed(due.length);
    const [{ expired, isCut, nowMs, lastMs, tookMs }] = rows as [ClaimRow];
    const count = due.length + expired;
    const leftFromMs = (isCut || count === limit ? lastMs : null) ?? Number.POSITIVE_INFINITY;
    floor.claimed({ nowMs, leftFromMs, rows: count, tookMs }, from, performance.now());
    return { due, expired, isCut };
  }

  async disown(claimIds: readonly string[]): Promise<void> {
    await this.#dataSource.query(DISOWN, [claimIds]);
  }

  async giveBack(claimId: string, outcome: Unfired, ids: readonly TimerId[]): Promise<void> {
    await this.#dataSource.query(GIVE_BACK[outcome], [ids, claimId]);
  }

  /** Whoever takes them over, or claims them again, moves them between the tables meanwhile: one statement alone would look past them. */
  async fired(ids: readonly TimerId[]): Promise<void> {
    for (const statement of [FIRED_THERE, FIRED_BACK, FIRED_THERE]) await this.#dataSource.query(statement, [ids]);
  }

  async finish(claims: readonly FinishedClaim[]): Promise<void> {
    const ended = await this.#dataSource.query<{ id: string }[]>(FINISH, [claims.map(({ claimId }) => claimId)]);
    const isEnded = new Set(ended.map(({ id }) => id));
    const late = claims.filter(({ claimId }) => !isEnded.has(claimId)).flatMap(({ fired }) => fired);
    if (late.length > 0) await this.fired(late);
  }

  async nextDueInMs(tries: Tries = "first"): Promise<number | null> {
    if (tries === "again") await this.#triedAgain.look();
    const floor = this.#floors[tries];
    const from = floor.from(performance.now());
    const rows = await Looks.of(this.#dataSource).askRows<NextRow>(NEXT_DUE[tries], [timeOf(from)]);
    const [{ nowMs, nextMs }] = rows as [NextRow];
    floor.looked({ nowMs, leftFromMs: nextMs ?? Number.POSITIVE_INFINITY }, from);
    const inMs = nextMs === null ? null : nextMs - nowMs;
    // What may be below a floor is looked for once that ends.
    return from === Number.NEGATIVE_INFINITY
      ? inMs
      : Math.min(inMs ?? Number.POSITIVE_INFINITY, floor.leftMs(performance.now()));
  }

  async renew(owner: string): Promise<void> {
    await this.#dataSource.query(RENEW, [owner]);
  }

  lapsed(): ReturnType<TimerFiringStore["lapsed"]> {
    return Looks.of(this.#dataSource).askRows(LAPSED);
  }

  /** Owners are taken one after the other: the timers that one's claims name are locked in one order. */
  async takeOver(owners: readonly string[]): Promise<number> {
    let taken = 0;
    for (const owner of owners) {
      const [row] = await this.#dataSource.query<{ count: number }[]>(TAKE_OVER, [owner]);
      taken += row?.count ?? 0;
    }
    return taken;
  }

  async leave(owner: string): Promise<void> {
    await this.#dataSource.query(LEAVE, [owner]);
  }

  async forget(olderThanMs: number, limit: number): Promise<number> {
    const [row] = await this.#dataSource.query<{ count: number }[]>(FORGET, [olderThanMs, limit]);
    return row?.count ?? 0;
  }
}
