import { randomUUID } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import { PostgresCommandStore } from "../../services/observer-manager/src/adapters/postgres/commands/postgres-command-store.ts";
import { PostgresReconcilerStore } from "../../services/observer-manager/src/adapters/postgres/observers/reconciler-store.ts";
import type { Claim, Settled } from "../../services/observer-manager/src/operations/commands/command-store.ts";
import { FreshStarts } from "../../services/observer-manager/src/operations/commands/fresh-starts.ts";
import { eventually } from "../support/eventually.ts";
import { putObserver, putService, type TestBooks, useBooks } from "../support/servers/books.ts";

const HOLD_MS = 10_000;

const books = useBooks("commands, services, observers");
let one: PostgresCommandStore;
let other: PostgresCommandStore;
beforeAll(async () => {
  one = new PostgresCommandStore(books.dataSource, new FreshStarts());
  other = new PostgresCommandStore(books.dataSource, new FreshStarts());
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

test("what one manager claims, no other sends, in no transaction; it is settled by the claim that holds it", async () => {
  const id = await wantStart();
  const claim = await one.claimDue(10, HOLD_MS);
  expect(claim.due).toMatchObject([{ kind: "start", start: { observerId: id, revision: 1 } }]);
  expect(kindsOf(await other.claimDue(10, HOLD_MS))).toEqual([]);
  expect(await other.nextDueInMs()).toSatisfy((ms: number) => ms > 0 && ms <= HOLD_MS);
  await one.settle(claim, putOff(claim, 60_000));
  expect(await rows()).toEqual([{ kind: "start", sentCount: 1, isClaimed: false }]);
  await query("UPDATE commands SET due_at = now()");
  const again = await other.claimDue(10, HOLD_MS);
  await other.settle(again, isOver(again));
  expect(await rows()).toEqual([]);
});

test("the claim of a dead manager runs out, by PostgreSQL's clock; renewed it holds, and late it settles nothing any more", async () => {
  await wantStart();
  const late = await one.claimDue(10, 50);
  await one.renew(late, HOLD_MS);
  expect(await other.nextDueInMs()).toBeGreaterThan(1_000);
  await one.renew(late, 1);
  const taken = await eventually(async () => {
    const claim = await other.claimDue(10, HOLD_MS);
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

test("what is forgotten, or wanted in another revision, while it is claimed does not come back when the claim is settled", async () => {
  const [forgotten, changed] = [await wantStart(), await wantStart()];
  const claim = await one.claimDue(10, HOLD_MS);
  expect(claim.due).toHaveLength(2);
  await query("DELETE FROM commands WHERE observer_id = ANY($1)", [[forgotten, changed]]);
  await query("INSERT INTO commands (kind, observer_id, revision) VALUES ('start', $1, 2)", [changed]);
  await one.settle(claim, putOff(claim, 0));
  await one.settle(claim, isOver(claim));
  expect(await query("SELECT observer_id, revision, sent_count FROM commands")).toEqual([
    { observer_id: changed, revision: 2, sent_count: 0 },
  ]);
});

test("neither a renewal nor a settlement waits for a transaction that is about to forget one of the commands", async () => {
  await wantStart();
  const kept = await wantStart();
  const claim = await one.claimDue(10, HOLD_MS);
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
  const claim = await one.claimDue(10, HOLD_MS);
  expect(kindsOf(claim)).toEqual(["report-inventory"]);
  await reconciler.askInventories("default");
  await one.settle(claim, putOff(claim, 60_000));
  expect(kindsOf(await other.claimDue(10, HOLD_MS))).toEqual(["report-inventory"]);
});

test("among very many commands that are not due, those that are are found by their index", async () => {
  await query(
    `INSERT INTO commands (kind, observer_id, revision, due_at)
     SELECT 'stop', gen_random_uuid(), 1, now() + n * interval '1 minute' FROM generate_series(-10, 20000) n`,
  );
  await query("ANALYZE commands");
  const statements: { sql: string; parameters: unknown[] }[] = [];
  const recording = Object.create(books.dataSource) as TestBooks["dataSource"];
  recording.query = (sql: string, parameters: unknown[] = []) => {
    statements.push({ sql, parameters });
    return books.dataSource.query(sql, parameters);
  };
  const store = new PostgresCommandStore(recording, new FreshStarts());
  const claim = await store.claimDue(2_000, HOLD_MS);
  expect(claim.due).toHaveLength(11);
  await store.renew(claim, HOLD_MS);
  await store.settle(claim, [...isOver(claim).slice(0, 5), ...putOff(claim, 1).slice(5)]);
  await store.nextDueInMs();
  expect(statements).toHaveLength(5);
  for (const { sql, parameters } of statements) {
    const [plan] = await query(`EXPLAIN (FORMAT JSON) ${sql}`, parameters);
    const text = JSON.stringify(plan);
    expect(text).toMatch(/commands_due|commands_pkey/);
    expect(text).not.toContain('"Seq Scan"');
  }
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
  const claim = await one.claimDue(8_000, HOLD_MS);
  await one.renew(claim, HOLD_MS);
  await one.settle(claim, [...putOff(claim, 60_000).slice(0, 4_000), ...isOver(claim).slice(4_000)]);
  // Planned for one row, this took minutes.
  expect(await query("SELECT count(*)::int AS rows, count(claim_id)::int AS claimed FROM commands")).toEqual([
    { rows: 12_000, claimed: 0 },
  ]);
});
