import type { TimerView } from "@unacked/contracts";
import type { EntityManager } from "typeorm";
import { MARGIN_MS } from "../../../domain/due-floor.ts";
import { doneToTimers } from "../../../operations/access/audit.ts";
import type { NewTimer, PutOutcome, TimerPut } from "../../../operations/timers/timer-store.ts";
import { recordActions } from "../access/audit-rows.ts";
import { GivenRows } from "../statements/given-rows.ts";
import { isOver, isWithin, timersOf, withinOf } from "./timer-view.ts";

const GIVEN = new GivenRows<TimerPut>({
  id: ["uuid", ({ timer }) => timer.id],
  name: ["text", ({ timer }) => timer.name],
  payload: ["jsonb", ({ timer }) => JSON.stringify(timer.payload)],
  at: ["timestamptz", ({ timer }) => timer.at ?? null],
  in_ms: ["float8", ({ timer }) => timer.inMs ?? null],
  expires_at: ["timestamptz", ({ timer }) => timer.expiresAt ?? null],
  within: ["jsonb", withinOf],
});

/** By the clock that fires it, and in the milliseconds that are shown: what is read and put back is the same. */
const dueOf = (at: string, inMs: string): string =>
  `coalesce(${at}, date_trunc('milliseconds', unacked_now()) + ${inMs} * interval '1 millisecond')`;

const ASKED = `
  SELECT *, expires_at IS NULL AS default_expiry,
         coalesce(expires_at, greatest(due_at, unacked_now()) + interval '1 day') AS until
  FROM ${GIVEN.from()} CROSS JOIN LATERAL (SELECT ${dueOf("u.at", "u.in_ms")} AS due_at) d`;

/** Timers that would expire before they are due; by the contract none with an `at` would. */
const IN_VAIN = `SELECT id FROM (${ASKED}) asked WHERE until <= due_at`;

/** Inserts in one order, so that no two batches wait for each other. */
const INSERT = `
  WITH asked AS (${ASKED}), fresh AS (
    INSERT INTO timers (id, name, payload, due_at, next_at, expires_at, default_expiry)
    SELECT id, name, payload, due_at, due_at, until, default_expiry FROM asked ORDER BY id
    ON CONFLICT DO NOTHING RETURNING id)
  SELECT id FROM fresh`;

/** Index: ended_timers_pkey. */
const ENDED_AMONG = "SELECT id FROM ended_timers WHERE id = ANY($1)";
const TAKE_BACK = "DELETE FROM timers WHERE id = ANY($1)";

/**
 * How a timer that is there compares: `within`, whether it is the `same`, and whether it may be but for the time from which
 * `inMs` counts.
 */
const MET = `${isWithin("t.name", "a.within")} AS within, t.name = a.name AND t.payload = a.payload AND a.in_ms IS NOT NULL AS repeated,
      t.name = a.name AND t.payload = a.payload AND t.due_at = a.due_at
      AND t.default_expiry = a.default_expiry AND (a.default_expiry OR t.expires_at = a.expires_at) AS same`;

const MET_FIRED =
  "SELECT id, CASE WHEN NOT within THEN 'taken' WHEN NOT is_over AND (same OR repeated) THEN 'exists' ELSE 'over' END AS kind FROM there";

/** Meets timers among the ended: over, or being fired. A caller that no answer has reached may ask once more when `inMs` is over. */
const MEET_ENDED = `
  WITH asked AS (${ASKED}), there AS (
    SELECT t.id, ${isOver("t")} AS is_over, ${MET} FROM ended_timers t JOIN asked a USING (id))
  ${MET_FIRED}`;

/** Likewise, and timers that are being fired without a claim. For what is set in vain it finds what was set before. */
const MEET_FIRED = `
  WITH asked AS (${ASKED}), there AS (
    SELECT t.id, ${isOver("t")} AS is_over, ${MET} FROM ended_timers t JOIN asked a USING (id)
    UNION ALL SELECT t.id, false, ${MET} FROM timers t JOIN asked a USING (id) WHERE t.status = 'Firing')
  ${MET_FIRED}`;

/** Meets timers that are there: the same, or another that Waits and is replaced, or neither. */
const MEET = `
  WITH asked AS (${ASKED}), there AS (
    SELECT t.id, t.status, ${MET}
    FROM timers t JOIN asked a USING (id) WHERE t.id = ANY($1) ORDER BY t.id FOR UPDATE OF t
  ), replaced AS (
    UPDATE timers t SET name = a.name, payload = a.payload, due_at = a.due_at, next_at = a.due_at, expires_at = a.until,
                        default_expiry = a.default_expiry, returns = 0, last_problem = NULL
    FROM asked a WHERE t.id = a.id AND t.id = ANY(ARRAY(SELECT id FROM there WHERE within AND NOT same AND status = 'Waiting')))
  SELECT id, CASE WHEN NOT within THEN 'taken' WHEN same OR (repeated AND status = 'Firing') THEN 'exists'
                  WHEN status = 'Waiting' THEN 'replaced' ELSE 'over' END AS kind FROM there`;

type Met = { id: string; kind: PutOutcome["kind"] };

/**
 * Whether one is earlier than all others. Index: timers_due, from shortly before now on: before that lies what has fired
 * (domain/due-floor.ts), and where something is due since then, whoever is behind with it is woken once too often.
 */
const EARLIER_THAN_ALL = `
  SELECT coalesce(least($1::timestamptz, ${dueOf("NULL", "$2::float8")}) < min(next_at), true) AS earlier
  FROM timers WHERE returns = 0 AND next_at >= (SELECT unacked_now()) - interval '${MARGIN_MS} ms'`;

/**
 * Creates each, or meets what is there, with entries in the audit trail. No id comes twice; outcomes are in the order given.
 * Managers that sleep until later are woken.
 */
export async function putTimers(tx: EntityManager, puts: readonly TimerPut[]): Promise<PutOutcome[]> {
  const outcomes = await putEach(tx, puts);
  const changes = puts.flatMap(({ action }, i) => {
    const outcome = outcomes[i];
    return outcome?.kind === "created" || outcome?.kind === "replaced" ? [{ action, timer: outcome.timer }] : [];
  });
  await recordActions(tx, doneToTimers(changes));
  return outcomes;
}

async function putEach(tx: EntityManager, puts: readonly TimerPut[]): Promise<PutOutcome[]> {
  const vain = await inVainAmong(tx, puts);
  const isInVain = ({ timer }: TimerPut): boolean => vain.has(timer.id);
  if (vain.size === 0) return putTimely(tx, puts);
  const inVain = await meetFired(tx, puts.filter(isInVain));
  const timely = await putTimely(
    tx,
    puts.filter((put) => !isInVain(put)),
  );
  const [ofVain, ofTimely] = [inVain.values(), timely.values()];
  return puts.map((put) => (isInVain(put) ? ofVain : ofTimely).next().value as PutOutcome);
}

/**
 * Nothing is created or moved in vain. What is being fired, or has been, is answered as ever: a caller that no answer has reached asks
 * again, and `inMs` counts from then.
 */
async function meetFired(tx: EntityManager, puts: readonly TimerPut[]): Promise<PutOutcome[]> {
  const kinds = new Map<string, PutOutcome["kind"]>(puts.map(({ timer }) => [timer.id, "in-vain"]));
  for (const { id, kind } of await tx.query<Met[]>(MEET_FIRED, GIVEN.of(puts))) kinds.set(id, kind);
  return outcomesOf(tx, puts, kinds);
}

/** Few have both `inMs` and `expiresAt`: the others cost no statement more. */
async function inVainAmong(tx: EntityManager, puts: readonly TimerPut[]): Promise<ReadonlySet<string>> {
  const asked = puts.filter(({ timer }) => timer.inMs !== undefined && timer.expiresAt !== undefined);
  if (asked.length === 0) return new Set();
  const found = await tx.query<{ id: string }[]>(IN_VAIN, GIVEN.of(asked));
  return new Set(found.map(({ id }) => id));
}

async function putTimely(tx: EntityManager, puts: readonly TimerPut[]): Promise<PutOutcome[]> {
  const timers = puts.map(({ timer }) => timer);
  const isEarlier = await isEarlierThanAll(tx, timers);
  const inserted = await tx.query<{ id: string }[]>(INSERT, GIVEN.of(puts));
  // An id that is among the ended already has had its timer.
  const ended = await tx.query<{ id: string }[]>(ENDED_AMONG, [inserted.map(({ id }) => id)]);
  if (ended.length > 0) await tx.query(TAKE_BACK, [ended.map(({ id }) => id)]);
  const kinds = new Map<string, PutOutcome["kind"]>(inserted.map(({ id }) => [id, "created"]));
  for (const { id } of ended) kinds.delete(id);
  // What is met may be claimed meanwhile, or given back: so it is looked for in both tables.
  for (const meet of [MEET, MEET_ENDED, MEET]) {
    const others = puts.filter(({ timer }) => !kinds.has(timer.id));
    if (others.length === 0) break;
    for (const { id, kind } of await tx.query<Met[]>(meet, GIVEN.of(others))) kinds.set(id, kind);
  }
  if (isEarlier && [...kinds.values()].some((kind) => kind === "created" || kind === "replaced"))
    await tx.query("NOTIFY unacked_timers");
  return outcomesOf(tx, puts, kinds);
}

async function outcomesOf(
  tx: EntityManager,
  puts: readonly TimerPut[],
  kinds: ReadonlyMap<string, PutOutcome["kind"]>,
): Promise<PutOutcome[]> {
  // These are as they were asked for, and so no longer; the others are not shown.
  const shown = puts.map(({ timer }) => timer.id).filter((id) => SHOWN.has(kinds.get(id) ?? "over"));
  const views = await timersOf(tx, shown);
  // Whatever was met and is not there any more has just ended.
  return puts.map(({ timer: { id } }) => outcomeOf(kinds.get(id) ?? "over", views.get(id)));
}

const SHOWN: ReadonlySet<PutOutcome["kind"]> = new Set(["created", "exists", "replaced"]);

function outcomeOf(kind: PutOutcome["kind"], timer: TimerView | undefined): PutOutcome {
  if (kind === "taken" || kind === "in-vain") return { kind };
  return kind === "over" || timer === undefined ? { kind: "over" } : { kind, timer };
}

async function isEarlierThanAll(tx: EntityManager, timers: readonly NewTimer[]): Promise<boolean> {
  const ats = timers.flatMap(({ at }) => at ?? []);
  const earliest = ats.length === 0 ? null : ats.reduce((least, at) => (Date.parse(at) < Date.parse(least) ? at : least));
  const delays = timers.flatMap(({ inMs }) => inMs ?? []);
  const soonestMs = delays.length === 0 ? null : delays.reduce((least, inMs) => Math.min(least, inMs));
  const [row] = await tx.query<{ earlier: boolean }[]>(EARLIER_THAN_ALL, [earliest, soonestMs]);
  return row?.earlier ?? false;
}
