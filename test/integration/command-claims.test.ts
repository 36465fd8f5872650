import { randomUUID } from "node:crypto";
import type { RunId } from "@unacked/contracts";
import type { EntityManager } from "typeorm";
import { beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { countCommands } from "../../services/observer-manager/src/adapters/postgres/commands/command-counts.ts";
import { writeCommands } from "../../services/observer-manager/src/adapters/postgres/commands/command-writes.ts";
import { PostgresCommandStore } from "../../services/observer-manager/src/adapters/postgres/commands/postgres-command-store.ts";
import { PostgresProofStore } from "../../services/observer-manager/src/adapters/postgres/observers/proof-store.ts";
import { PostgresReconcilerStore } from "../../services/observer-manager/src/adapters/postgres/observers/reconciler-store.ts";
import { nextStep } from "../../services/observer-manager/src/domain/observers/absence-proof.ts";
import type { Claim, DueCommand, Settled } from "../../services/observer-manager/src/operations/commands/command-store.ts";
import { Dispatcher } from "../../services/observer-manager/src/operations/commands/dispatcher.ts";
import { eventually } from "../support/eventually.ts";
import { keptLog, putObserver, putService, type TestBooks, useBooks } from "../support/servers/books.ts";

const HOLD_MS = 10_000;
const STOP_PAUSES = { firstMs: 5_000, maxMs: 60_000 };

const books = useBooks("commands, services, observers, absence_proofs");
let one: PostgresCommandStore;
let other: PostgresCommandStore;
beforeAll(async () => {
  one = new PostgresCommandStore(books.dataSource);
  other = new PostgresCommandStore(books.dataSource);
});

const query = (sql: string, parameters: unknown[] = []) => books.dataSource.query(sql, parameters);
const rows = () => query('SELECT kind, sent_count AS "sentCount", claim_id IS NOT NULL AS "isClaimed" FROM commands');

async function wantStart(): Promise<string> {
  const id = await putObserver(books.dataSource);
  await query("INSERT INTO commands (kind, observer_id, revision) VALUES ('start', $1, 1)", [id]);
  return id;
}

const kindsOf = ({ due }: Claim) => due.map(({ kind }) => kind);
const isOver = ({ due }: Claim): Settled[] => due.map(({ id }) => ({ id, keep: false }));
const putOff = ({ due }: Claim, dueInMs: number): Settled[] =>
  due.map(({ id }) => ({ id, keep: true, dueInMs, wasSent: true }));

const unsentStops = ({ due }: Claim, dueInMs: number): Settled[] =>
  due.map(({ id }) => ({ id, keep: "unsent-stop", dueInMs }));

test("what one manager claims, no other sends, in no transaction; it is settled by the claim that holds it", async () => {
  const id = await wantStart();
  const claim = await one.claimDue(10, HOLD_MS, STOP_PAUSES);
  expect(claim.due).toMatchObject([{ kind: "start", start: { observerId: id, revision: 1 } }]);
  expect(kindsOf(await other.claimDue(10, HOLD_MS, STOP_PAUSES))).toEqual([]);
  expect(await other.nextDueInMs()).toSatisfy((ms: number) => ms > 0 && ms <= HOLD_MS);
  await one.settle(claim, putOff(claim, 60_000));
  expect(await rows()).toEqual([{ kind: "start", sentCount: 1, isClaimed: false }]);
  await query("UPDATE commands SET due_at = now()");
  const again = await other.claimDue(10, HOLD_MS, STOP_PAUSES);
  await other.settle(again, isOver(again));
  expect(await rows()).toEqual([]);
});

test("the claim of a dead manager runs out, by PostgreSQL's clock; renewed it holds, and late it settles nothing any more", async () => {
  await wantStart();
  const late = await one.claimDue(10, 50, STOP_PAUSES);
  await one.renew(late, HOLD_MS);
  expect(await other.nextDueInMs()).toBeGreaterThan(1_000);
  await one.renew(late, 1);
  const taken = await eventually(async () => {
    const claim = await other.claimDue(10, HOLD_MS, STOP_PAUSES);
    expect(kindsOf(claim)).toEqual(["start"]);
    return claim;
  });
  await one.settle(late, isOver(late));
  await one.settle(late, putOff(late, 0));
  await one.renew(late, 1);
  expect(await rows()).toEqual([{ kind: "start", sentCount: 0, isClaimed: true }]);
  expect(await other.nextDueInMs()).toBeGreaterThan(1_000);
  await other.settle(taken, isOver(taken));
  expect(await rows()).toEqual([]);
});

test("a stop is taken for sent, again after each pause until it is answered; one that could not be is due sooner", async () => {
  const stop = "INSERT INTO commands (kind, observer_id, revision) VALUES ('stop', $1, 1)";
  await query(stop, [await putObserver(books.dataSource)]);
  const dueInS = async () => Number(await one.nextDueInMs()) / 1_000;
  const pauses: number[] = [];
  for (let times = 1; times <= 6; times += 1) {
    const claim = await one.claimDue(10, HOLD_MS, STOP_PAUSES);
    expect(kindsOf(claim)).toEqual(["stop"]);
    expect(await rows()).toEqual([{ kind: "stop", sentCount: times, isClaimed: false }]);
    pauses.push(await dueInS());
    if (times < 6) await query("UPDATE commands SET due_at = now()");
    else await one.settle(claim, unsentStops(claim, 1_000));
  }
  for (const [i, mostS] of [5, 10, 20, 40, 60, 60].entries()) {
    expect(pauses[i]).toBeLessThanOrEqual(mostS);
    expect(pauses[i]).toBeGreaterThan(mostS - 4);
  }
  expect(await dueInS()).toBeLessThanOrEqual(1);
  expect(await rows()).toEqual([{ kind: "stop", sentCount: 5, isClaimed: false }]);
  // Asked for once more while it was being sent: then that is the last word on it.
  const late = await one.claimDue(10, HOLD_MS, STOP_PAUSES);
  await query("UPDATE commands SET due_at = now()");
  await one.settle(late, unsentStops(late, 1_000));
  expect(await dueInS()).toBeLessThanOrEqual(0);
});

test("what is forgotten, or wanted in another revision, while it is claimed does not come back when the claim is settled", async () => {
  const [forgotten, changed] = [await wantStart(), await wantStart()];
  const claim = await one.claimDue(10, HOLD_MS, STOP_PAUSES);
  expect(claim.due).toHaveLength(2);
  await query("DELETE FROM commands WHERE observer_id = ANY($1)", [[forgotten, changed]]);
  await query("INSERT INTO commands (kind, observer_id, revision) VALUES ('start', $1, 2)", [changed]);
  await one.settle(claim, putOff(claim, 0));
  await one.settle(claim, isOver(claim));
  expect(await query("SELECT observer_id, revision, sent_count FROM commands")).toEqual([
    { observer_id: changed, revision: 2, sent_count: 0 },
  ]);
});

test.each([
  ["is to be paused", { pending: "pause" }, { pending: null }],
  ["is to be changed", { pending: "update" }, { pending: null }],
  ["is being deleted", { status: "OnDeleting" }, { status: "Created" }],
])("an admission waits while its observer %s, and goes out with what is wanted by then", async (_, before, after) => {
  const [runId, messageId, serviceId] = [randomUUID(), randomUUID(), randomUUID()];
  const id = await putObserver(books.dataSource, { requested_run_id: runId, spec_version: 2, ...before });
  await query(
    `INSERT INTO runs (id, observer_id, service_id, generation, message_id, revision, epoch, state, started_at, fencing_token)
     VALUES ($1, $2, $3, 1, $4, 1, 1, 'Requested', now(), 7000)`,
    [runId, id, serviceId, messageId],
  );
  await query(
    `INSERT INTO commands (kind, observer_id, run_id, message_id, revision, service_id, generation)
     VALUES ('admit', $1, $2, $3, 1, $4, 1)`,
    [id, runId, messageId, serviceId],
  );
  const sent: DueCommand[] = [];
  const sender = {
    isReady: true,
    ready: async () => undefined,
    send: async (due: DueCommand[]) => due.map((one) => (sent.push(one), "sent" as const)),
  };
  const dispatcher = new Dispatcher(one, sender, keptLog(), { applied() {}, putAside() {}, sent() {} });
  dispatcher.start();
  onTestFinished(() => dispatcher.stop());
  const untilPutOff = () =>
    eventually(async () =>
      expect(await query("SELECT sent_count, claim_id FROM commands WHERE due_at > now()")).toEqual([
        { sent_count: 0, claim_id: null },
      ]),
    );
  await untilPutOff();
  const [first] = await query("SELECT due_at FROM commands");
  // Put off again and again, never sent and never dropped.
  await eventually(async () => expect((await query("SELECT due_at FROM commands"))[0].due_at).not.toEqual(first.due_at), {
    timeoutMs: 10_000,
  });
  await untilPutOff();
  expect(sent).toEqual([]);
  const [[column, value]] = Object.entries(after) as [[string, string | null]];
  await query(`UPDATE observers SET ${column} = $2, spec_version = 3 WHERE id = $1`, [id, value]);
  await eventually(
    () => expect(sent).toMatchObject([{ kind: "admit", admission: { fencingToken: 7_000, spec: { specVersion: 3 } } }]),
    {
      timeoutMs: 10_000,
    },
  );
});

test("a command that fails each time is late since it was first due; an admission that has to wait is not, nor a start that was sent back", async () => {
  const isStopping = await putObserver(books.dataSource, { pending: "pause" });
  await query(
    `INSERT INTO commands (kind, observer_id, run_id, message_id, revision, service_id, generation)
     VALUES ('admit', $1, gen_random_uuid(), gen_random_uuid(), 1, gen_random_uuid(), 1)`,
    [isStopping],
  );
  await wantStart();
  await query(
    "INSERT INTO commands (kind, observer_id, revision) VALUES ('stop', gen_random_uuid(), 1), ('stop', gen_random_uuid(), 2)",
  );
  await query("UPDATE commands SET created_at = now() - interval '90 s'");
  const lags = async () =>
    Object.fromEntries((await countCommands(books.dataSource)).map(({ kind, overdueS }) => [kind, overdueS]));
  /** And as long as a busy machine takes to look. */
  const late = expect.toSatisfy((overdueS: number) => overdueS >= 90 && overdueS < 150);
  const claim = await one.claimDue(10, HOLD_MS, STOP_PAUSES);
  await one.settle(
    claim,
    claim.due.map(({ id, kind }) =>
      kind === "stop" ? { id, keep: "unsent-stop", dueInMs: 60_000 } : { id, keep: true, dueInMs: 60_000, wasSent: false },
    ),
  );
  expect(await lags()).toEqual({ admit: 0, start: late, stop: late });
  // Sent, and not answered: that is not late.
  await query("UPDATE commands SET sent_count = 1 WHERE kind = 'stop'");
  await query(
    "UPDATE commands SET reason = 'unknown-type', created_at = now(), due_at = now() + interval '60 s' WHERE kind = 'start'",
  );
  await query("UPDATE observers SET pending = NULL WHERE id = $1", [isStopping]);
  expect(await lags()).toEqual({ admit: late, start: 0, stop: 0 });
});

test("an admission is dropped where its run asks no more", async () => {
  const id = await putObserver(books.dataSource);
  await query(
    `INSERT INTO commands (kind, observer_id, run_id, message_id, revision, service_id, generation)
     VALUES ('admit', $1, gen_random_uuid(), gen_random_uuid(), 1, gen_random_uuid(), 1)`,
    [id],
  );
  const claim = await one.claimDue(10, HOLD_MS, STOP_PAUSES);
  expect(claim.due).toMatchObject([{ kind: "admit", admission: null }]);
});

test("an admission is dropped where another run asks by now: only one is admitted", async () => {
  const [asked, asks] = [randomUUID(), randomUUID()];
  const id = await putObserver(books.dataSource, { requested_run_id: asks });
  for (const [place, runId] of [asked, asks].entries()) {
    await query(
      `INSERT INTO runs (id, observer_id, service_id, generation, message_id, revision, epoch, state, started_at, fencing_token)
       VALUES ($1, $2, gen_random_uuid(), 1, gen_random_uuid(), 1, $3, 'Requested', now(), $4)`,
      [runId, id, place + 1, 1_000 * (place + 1)],
    );
    await query(
      `INSERT INTO commands (kind, observer_id, run_id, message_id, revision, service_id, generation)
       VALUES ('admit', $1, $2, gen_random_uuid(), 1, gen_random_uuid(), 1)`,
      [id, runId],
    );
  }
  const { due } = await one.claimDue(10, HOLD_MS, STOP_PAUSES);
  expect(due).toMatchObject([
    { kind: "admit", runId: asked, admission: null },
    { kind: "admit", runId: asks, admission: { fencingToken: 2_000 } },
  ]);
});

test.each(["Processing", "Retrying", "Redistributing", "OnDeleting", "Paused", "Scheduled", "Completed", "Deleted"])(
  "a start of an observer that is %s is not sent any more, also of this revision",
  async (status) => {
    const id = await putObserver(books.dataSource, { status });
    await query("INSERT INTO commands (kind, observer_id, revision) VALUES ('start', $1, 1)", [id]);
    const { due } = await one.claimDue(10, HOLD_MS, STOP_PAUSES);
    expect(due).toMatchObject([{ kind: "start", start: null }]);
  },
);

test("neither a renewal nor a settlement waits for a transaction that is about to forget one of the commands", async () => {
  await wantStart();
  const kept = await wantStart();
  const claim = await one.claimDue(10, HOLD_MS, STOP_PAUSES);
  await books.dataSource.transaction(async (ledger) => {
    await ledger.query("DELETE FROM commands WHERE observer_id <> $1", [kept]);
    await one.renew(claim, HOLD_MS);
    await one.settle(claim, putOff(claim, 60_000));
    // Nor does the ledger wait for the manager that sends: it forgets the other as well.
    await ledger.query("DELETE FROM commands WHERE observer_id = $1", [kept]);
  });
  expect(await rows()).toEqual([]);
});

test("what is asked for once more while it is being sent is due at once", async () => {
  await putService(books.dataSource, { pool: "default" });
  const reconciler = new PostgresReconcilerStore(books.dataSource);
  await reconciler.askInventories("default");
  const claim = await one.claimDue(10, HOLD_MS, STOP_PAUSES);
  expect(kindsOf(claim)).toEqual(["report-inventory"]);
  await reconciler.askInventories("default");
  await one.settle(claim, putOff(claim, 60_000));
  expect(kindsOf(await other.claimDue(10, HOLD_MS, STOP_PAUSES))).toEqual(["report-inventory"]);
});

test("among very many commands that are not due, those that are are found by their index", async () => {
  await query(
    `INSERT INTO commands (kind, observer_id, revision, due_at)
     SELECT 'stop', gen_random_uuid(), 1, now() + CASE WHEN n > 0 THEN interval '1 minute' + n * interval '1 millisecond' ELSE n * interval '1 minute' END
     FROM generate_series(-10, 20000) n`,
  );
  await query("ANALYZE commands");
  const statements: { sql: string; parameters: unknown[] }[] = [];
  const recording = Object.create(books.dataSource) as TestBooks["dataSource"];
  recording.query = (sql: string, parameters: unknown[] = []) => {
    statements.push({ sql, parameters });
    return books.dataSource.query(sql, parameters);
  };
  const store = new PostgresCommandStore(recording);
  const claim = await store.claimDue(2_000, HOLD_MS, STOP_PAUSES);
  expect(claim.due).toHaveLength(11);
  await store.renew(claim, HOLD_MS);
  await store.settle(claim, [
    ...isOver(claim).slice(0, 5),
    ...putOff(claim, 1).slice(5, 8),
    ...unsentStops(claim, 1).slice(8),
  ]);
  await store.nextDueInMs();
  expect(statements).toHaveLength(6);
  for (const { sql, parameters } of statements) {
    const [plan] = await query(`EXPLAIN (FORMAT JSON) ${sql}`, parameters);
    const text = JSON.stringify(plan);
    expect(text).toMatch(/commands_due|commands_pkey/);
    expect(text).not.toContain('"Seq Scan"');
  }
});

test("what is due next is not looked for among thousands that were claimed and are gone", async () => {
  await query(
    "INSERT INTO commands (kind, observer_id, revision, due_at) VALUES ('stop', gen_random_uuid(), 1, now() + interval '1 s')",
  );
  const reader = books.dataSource.createQueryRunner();
  await reader.query("BEGIN ISOLATION LEVEL REPEATABLE READ");
  onTestFinished(async () => {
    await reader.query("ROLLBACK");
    await reader.release();
  });
  await reader.query("SELECT 1 FROM commands"); // nothing of them can be cleared away
  await query(
    "INSERT INTO commands (kind, observer_id, revision, due_at) SELECT 'stop', gen_random_uuid(), 1, now() + interval '10 s' FROM generate_series(1, 5000)",
  );
  await query("DELETE FROM commands WHERE due_at > now() + interval '2 s'");
  const asked = vi.spyOn(books.dataSource, "query");
  await one.nextDueInMs();
  const [sql] = asked.mock.lastCall ?? [];
  asked.mockRestore();
  const [plan] = await query(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${sql}`);
  // Of 709 with max(due_at). If PostgreSQL has counted just now, and found one row, it reads the table's 50 pages, twice.
  expect(plan["QUERY PLAN"][0].Plan["Shared Hit Blocks"], JSON.stringify(plan)).toBeLessThan(200);
});

test("all that is to be sent to a run is forgotten by the index of each kind", async () => {
  await query(
    `INSERT INTO commands (kind, observer_id, revision, service_id, generation, run_id, message_id, reason)
     SELECT kind, gen_random_uuid(), 1, gen_random_uuid(), 1, id, gen_random_uuid(), 'unknown'
     FROM (SELECT gen_random_uuid() AS id FROM generate_series(1, 4000)) runs,
       unnest(ARRAY['stop-run', 'restart-run', 'move-run', 'admit', 'tell-checkpoint', 'update-run']) AS kind`,
  );
  await query("ANALYZE commands");
  const runs: { id: string }[] = await query("SELECT DISTINCT run_id AS id FROM commands LIMIT 20");
  const quietRuns = new Set(runs.map(({ id }) => id as RunId));
  const plans: string[] = [];
  const explaining = Object.create(books.dataSource.manager) as EntityManager;
  explaining.query = async (sql: string, parameters: unknown[] = []) => {
    plans.push(JSON.stringify(await query(`EXPLAIN (FORMAT JSON) ${sql}`, parameters)));
    return books.dataSource.query(sql, parameters);
  };
  await writeCommands(explaining, { commands: new Map(), quietObservers: new Set(), quietRuns, traceContext: undefined });
  expect(plans).toEqual([
    expect.stringMatching(/commands_one_per_run.*commands_one_of_admission.*commands_one_move.*commands_one_of_update/),
  ]);
  expect(plans[0]).not.toContain('"Seq Scan"');
  expect(await query("SELECT count(*)::int AS left FROM commands WHERE run_id = ANY($1)", [[...quietRuns]])).toEqual([
    { left: 0 },
  ]);
});

test("a claim without a time cannot be written", async () => {
  await wantStart();
  await expect(query("UPDATE commands SET claim_id = $1", [randomUUID()])).rejects.toThrow("claim_has_a_time");
});

test("thousands are claimed, renewed and settled at once where a vacuum has found the table empty", async () => {
  const kinds =
    "INSERT INTO commands (kind, service_id, generation) SELECT 'probe', gen_random_uuid(), 1 FROM generate_series(1, $1::int)";
  await query(kinds, [20_000]);
  await query("DELETE FROM commands");
  await query("VACUUM (TRUNCATE off) commands");
  await query(kinds, [16_000]);
  const claim = await one.claimDue(8_000, HOLD_MS, STOP_PAUSES);
  await one.renew(claim, HOLD_MS);
  await one.settle(claim, [...putOff(claim, 60_000).slice(0, 4_000), ...isOver(claim).slice(4_000)]);
  // Planned for one row, this took minutes.
  expect(await query("SELECT count(*)::int AS rows, count(claim_id)::int AS claimed FROM commands")).toEqual([
    { rows: 12_000, claimed: 0 },
  ]);
});

test("what is claimed of orders about a service's intake says when, so that the later order has the later time", async () => {
  const service = await putService(books.dataSource);
  const give = (kind: string) =>
    query("INSERT INTO commands (kind, service_id, generation) VALUES ($1, $2, 1)", [kind, service]);
  const given: (number | null | undefined)[] = [];
  for (const kind of ["cordon", "uncordon", "drain", "report-inventory"]) {
    await give(kind);
    const claim = await one.claimDue(10, HOLD_MS, STOP_PAUSES);
    given.push(...claim.due.map(({ sentAtMs }) => sentAtMs));
    await one.settle(claim, isOver(claim));
  }
  const [cordoned = 0, lifted = 0, drained = 0, asked] = given as number[];
  expect([cordoned < lifted, lifted < drained, asked]).toEqual([true, true, null]);
  expect(Math.abs(drained - Date.now())).toBeLessThan(60_000);
});

test("where PostgreSQL's clock was set back what was due by it is due at once, and a claim holds for as long as a new one", async () => {
  const backAnHour = "UPDATE commands SET due_at = due_at + interval '1 hour'";
  await wantStart();
  await query(backAnHour);
  expect(await one.nextDueInMs()).toBe(0);
  const claim = await one.claimDue(10, HOLD_MS, STOP_PAUSES);
  expect(kindsOf(claim)).toEqual(["start"]);
  await query(backAnHour);
  expect(await other.nextDueInMs()).toBe(0);
  expect(kindsOf(await other.claimDue(10, HOLD_MS, STOP_PAUSES))).toEqual([]);
  expect(await other.nextDueInMs()).toSatisfy((ms: number) => ms > 0 && ms <= HOLD_MS);
  await one.settle(claim, putOff(claim, 60_000));
  expect(await one.nextDueInMs()).toBeGreaterThan(50_000);
  await one.settle(claim, isOver(claim));
});

test("an observer that was changed before PostgreSQL's clock was set back is in doubt no later for that", async () => {
  const reconciler = new PostgresReconcilerStore(books.dataSource);
  await putObserver(books.dataSource, { pool: "of-now" });
  await putObserver(books.dataSource, { pool: "of-the-clock-before" });
  await query("UPDATE observers SET modified_at = modified_at + interval '1 hour' WHERE pool = 'of-the-clock-before'");
  expect(await reconciler.poolsInDoubt(60_000)).toEqual(["of-the-clock-before"]);
});

test("a proof of absence begins in spite of what was noted by a clock that has been set back since, and begins anew", async () => {
  const proofs = new PostgresProofStore(books.dataSource);
  const pool = "set-back";
  await putService(books.dataSource, { pool });
  await putService(books.dataSource, { pool, state: "Gone", ended_at: new Date(Date.now() + 3_600_000) });
  await putObserver(books.dataSource, { pool, modified_at: new Date(Date.now() + 3_600_000) });
  const next = async () => nextStep({ ...(await proofs.sight(pool, 1_000)), ready: 1 });
  expect(await next()).toEqual({ kind: "begin" });
  await proofs.begin(pool, randomUUID(), "", null);
  expect(await next()).toEqual({ kind: "wait" });
  await query("UPDATE absence_proofs SET begun_at = begun_at + interval '1 hour', asked_at = asked_at + interval '1 hour'");
  expect(await next()).toEqual({ kind: "begin" });
});

test("a proof of absence begins beside any number of starts that wait for their pause, and judges none of them", async () => {
  const proofs = new PostgresProofStore(books.dataSource);
  const pool = "parked";
  const start = async (dueInS: number, count: number) => {
    await query(
      `WITH parked AS (
         INSERT INTO observers (id, name, type, params, labels, pool, retry, status)
         SELECT gen_random_uuid(), 'parked-' || $1::int || '-' || i, 'nobody-has-it', '{}', '{}', 'parked', '{}', 'Created'
         FROM generate_series(1, $2::int) i RETURNING id)
       INSERT INTO commands (kind, observer_id, revision, due_at) SELECT 'start', id, 1, now() + $1::int * interval '1 second' FROM parked`,
      [dueInS, count],
    );
  };
  await start(60, 1_500);
  expect(await proofs.begin(pool, randomUUID(), "", null)).toBe(true);
  const notJudged = "SELECT cardinality(not_judged) AS count FROM absence_proofs WHERE pool = 'parked'";
  expect(await query(notJudged)).toEqual([{ count: 1_500 }]);
  // Those that are on their way are another matter.
  await query("DELETE FROM absence_proofs");
  await start(0, 1_001);
  expect(await proofs.begin(pool, randomUUID(), "", null)).toBe(false);
});
