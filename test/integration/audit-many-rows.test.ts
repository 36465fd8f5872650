import { type AuditedAction, MAX_AUDIT_COUNT } from "@unacked/contracts";
import { beforeAll, expect, test } from "vitest";
import { listAudit } from "../../services/observer-manager/src/adapters/postgres/access/audit-rows.ts";
import { useBooks } from "../support/servers/books.ts";
import { rowsReadBy, statementsOf } from "../support/servers/rows-read.ts";

/* Of a busy month there are tens of millions: a page that counted them all, or looked for what is seldom among them, was never answered. */

const ROWS = 50_000;
const FEW = 3;
const books = useBooks();

const PUT = `
  INSERT INTO audit (id, at, actor, role, authentication, address, request_id, deed, count, targets, details)
  SELECT gen_random_uuid(), now() - n * interval '1 s', 'bot', 'operator', 'token', '127.0.0.1', n::text,
         CASE WHEN n > $1::int - ${FEW} THEN 'service.drain' ELSE 'task.create' END, 1,
         jsonb_build_array(CASE WHEN n > $1::int - ${FEW} THEN '{"kind": "service", "id": "s-1", "name": "alpha"}'::jsonb
           ELSE jsonb_build_object('kind', 'task', 'id', 't-' || n, 'name', NULL) END), '{}' FROM generate_series(1, $1::int) AS n`;

beforeAll(async () => {
  await books.dataSource.query(PUT, [ROWS]);
  await books.dataSource.query("VACUUM ANALYZE audit");
});

const list = (action?: AuditedAction) => listAudit(books.dataSource, { limit: 10, ...(action && { action }) });
const listOf = (target: string) => listAudit(books.dataSource, { limit: 10, target });

test("Entries are counted up to a number, and it is said that there are more", async () => {
  const all = await list();
  expect([all.items.length, all.total, all.isTotalExact]).toEqual([10, MAX_AUDIT_COUNT, false]);
  const few = await list("service.drain");
  expect([few.items.length, few.total, few.isTotalExact, few.nextCursor]).toEqual([FEW, FEW, true, null]);
  const none = await list("pool.rebalance");
  expect([none.items, none.total, none.isTotalExact]).toEqual([[], 0, true]);
});

test("What is done seldom is found without a look at all the rest, and nothing is counted to the end", async () => {
  const asked = await statementsOf(books, async () => {
    await list("service.drain");
    await list();
  });
  expect(asked).toHaveLength(4);
  for (const { sql, parameters } of asked)
    expect(await rowsReadBy(books, { sql, parameters }), sql).toBeLessThanOrEqual(MAX_AUDIT_COUNT + 1);
});

test("What was done to one thing is found by its id or its name without a look at all the rest", async () => {
  const asked = await statementsOf(books, async () => {
    expect((await listOf("t-7")).items.map(({ requestId }) => requestId)).toEqual(["7"]);
    for (const service of ["s-1", "alpha"]) expect(await listOf(service)).toMatchObject({ total: FEW, nextCursor: null });
    expect((await listOf("nobody")).items).toEqual([]);
    await listAudit(books.dataSource, { limit: 10, observer: { kind: "name", name: "alpha" } });
  });
  for (const { sql, parameters } of asked)
    expect(await rowsReadBy(books, { sql, parameters }), sql).toBeLessThanOrEqual(2 * FEW);
});
