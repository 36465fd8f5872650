import { randomUUID } from "node:crypto";
import type { TaskPage } from "@unacked/contracts";
import pg from "pg";
import { beforeAll, describe, expect, test } from "vitest";
import { PostgresTaskStore } from "../../services/observer-manager/src/adapters/postgres/tasks/desk/postgres-task-store.ts";
import { PostgresTaskDays } from "../../services/observer-manager/src/adapters/postgres/tasks/upkeep/task-days.ts";
import type { TaskQuery } from "../../services/observer-manager/src/operations/tasks/desk/task-store.ts";
import { eventually } from "../support/eventually.ts";
import { type HttpManager, startHttpManager } from "../support/rest/http-manager.ts";
import { proves } from "../support/runs/counts.ts";
import { inTurn, isTurnOf } from "../support/runs/turns.ts";
import { putService, useBooks } from "../support/servers/books.ts";
import { rowsReadBy, statementsOf } from "../support/servers/rows-read.ts";
import { queryRows } from "../support/servers/servers.ts";

/** `npm run prove -- tasks` is what the figures of docs/tasks.md come from. */
const ROWS = Number(process.env.MANY_ROWS ?? (proves("tasks") ? 1_000_000 : 100_000));
const LOOKS = 10;
/** For the best of the looks: what else the machine does takes longer than that from some of them, or from all ten; then it is looked on. */
const LIMIT_MS = 200;
const MAX_LOOKS = 100;

/** As it is: nearly all have completed, over eight days; one of a hundred failed, one type of a thousand is rare, as is one pool. */
const FILL = `
  INSERT INTO ended_tasks (id, type, params, pool, priority, status, due_at, failures, interruptions, crashes, sends, last_error, created_at, ended_at)
  SELECT gen_random_uuid(), CASE WHEN n % 1000 = 7 THEN 'rare' WHEN n % 3 = 0 THEN 'resize' ELSE 'mail' END, '{"wall": 1}',
         CASE WHEN n % 1000 = 9 THEN 'pictures' ELSE 'default' END, 0,
         CASE WHEN n % 100 = 0 THEN 'Failed' WHEN n % 500 = 1 THEN 'Cancelled' ELSE 'Completed' END, at, 0, 0, 0, 1,
         CASE WHEN n % 100 = 0 THEN jsonb_build_object('name', 'Error', 'message', 'wall ' || n || ' is wet') END, at, at + interval '1 s'
  FROM (SELECT n, date_trunc('day', now()) - interval '1 day' + n * (interval '8 days' / $1::int) AS at
        FROM generate_series(1, $1::int) AS n) rows`;

const books = useBooks();
let manager: HttpManager;

/** Indexes after the rows: so a million take seconds rather than minutes. */
beforeAll(async () => {
  await new PostgresTaskDays(books.dataSource).makeAhead();
  const client = new pg.Client({ connectionString: books.databaseUrl });
  await client.connect();
  const { rows: indexes } = await client.query<{ indexname: string; indexdef: string }>(
    "SELECT indexname, indexdef FROM pg_indexes WHERE tablename = 'ended_tasks'",
  );
  await client.query("SET maintenance_work_mem = '256MB'");
  for (const { indexname } of indexes) await client.query(`DROP INDEX ${indexname}`);
  await client.query(FILL, [ROWS]);
  for (const { indexdef } of indexes) await client.query(indexdef.replace(" ON ONLY ", " ON "));
  await client.query("VACUUM ANALYZE ended_tasks");
  await client.end();
}, 600_000);

const read = async (query: string): Promise<{ page: TaskPage; tookMs: number }> => {
  const beganMs = performance.now();
  const { status, body, text } = await manager.call("GET", `/api/v1/tasks?${query}`);
  expect(status, text).toBe(200);
  return { page: body, tookMs: performance.now() - beganMs };
};

const areTooFew = (took: number[]): boolean =>
  took.length < LOOKS || (took.length < MAX_LOOKS && Math.min(...took) >= LIMIT_MS);

function expectWithinLimit(query: string, took: number[]): void {
  const sorted = took.toSorted((a, b) => a - b);
  const [best = 0, median = 0, most = 0] = [sorted[0], sorted[Math.floor(sorted.length / 2)], sorted.at(-1)];
  console.log(`${query}: ${median.toFixed(0)} ms, ${best.toFixed(0)} to ${most.toFixed(0)} ms of ${sorted.length} looks`);
  expect(best).toBeLessThan(LIMIT_MS);
}

describe(`beside ${ROWS.toLocaleString("en")} tasks that have ended, a page and its count are there within ${LIMIT_MS} ms`, () => {
  const isMany = ROWS > 50_000;
  test.each(
    inTurn<[string, string, number | "more"]>([
      ["all", "", "more"],
      ["of a status that nearly all have", "status=Completed", "more"],
      ["of a status that few have", "status=Cancelled", ROWS / 500 > 10_000 ? "more" : ROWS / 500],
      ["of some statuses", "status=Failed,Cancelled", ROWS / 100 + ROWS / 500 > 10_000 ? "more" : ROWS / 100 + ROWS / 500],
      ["of a type that many have", "type=resize", isMany ? "more" : ROWS / 3],
      ["of a type that few have", "type=rare", ROWS / 1_000],
      ["of a type that few have, and a status that none of them has", "type=rare&status=Failed", 0],
      ["of a status and a type that many have", "type=mail&status=Failed", Math.floor(ROWS / 100) - Math.floor(ROWS / 300)],
      ["of a pool that nearly all have", "pool=default", "more"],
      ["of a pool that few have", "pool=pictures", ROWS / 1_000],
      ["of an id that there is", "q=ID", 1],
      ["of how an id begins", "q=abc0", -1],
      ["that wait, of which there are none", "status=Ready,Running", 0],
      ["on a page in the middle", "limit=1000&cursor=CURSOR", "more"],
    ]),
  )("%s", async (_, query, total) => {
    manager = await startHttpManager(books.databaseUrl);
    const { page: first } = await read("limit=1000");
    const asked = query.replace("CURSOR", String(first.nextCursor)).replace("ID", first.items[7]?.id ?? randomUUID());
    const took: number[] = [];
    while (areTooFew(took)) {
      const { page, tookMs } = await read(asked);
      took.push(tookMs);
      if (total === "more") expect([page.total, page.isTotalExact]).toEqual([10_000, false]);
      else if (total >= 0) expect([page.total, page.isTotalExact]).toEqual([total, true]);
    }
    expectWithinLimit(query || "all", took);
  });

  test.each(
    inTurn<[string, Omit<TaskQuery, "limit">]>([
      ["all", {}],
      ["of a status that nearly all have", { statuses: ["Completed"] }],
      ["of a status that few have", { statuses: ["Cancelled"] }],
      ["of some statuses", { statuses: ["Failed", "Cancelled"] }],
      ["of a type that many have", { type: "resize" }],
      ["of a type that few have", { type: "rare" }],
      ["of a type that nobody has", { type: "nothing" }],
      ["of a type that few have, and a status that none of them has", { type: "rare", statuses: ["Failed"] }],
      ["of a status and a type that many have", { type: "mail", statuses: ["Failed"] }],
      ["of a pool that few have", { pool: "pictures" }],
      ["of a pool that nobody has", { pool: "nothing" }],
      ["of how an id begins", { idStart: "abc0" }],
    ]),
  )("and the table is not read from end to end: %s", async (_, query) => {
    const store = new PostgresTaskStore(books.dataSource);
    const asked = await statementsOf(books, async () => void (await store.list({ limit: 100, ...query })));
    const read = await Promise.all(asked.map((one) => rowsReadBy(books, one)));
    console.log(`${JSON.stringify(query)}: ${read.join(" and ")} rows read`);
    expect(read.length).toBeGreaterThan(0);
    // What is not seldom enough for an index of its own is looked for among the newest.
    expect(Math.max(...read)).toBeLessThan(ROWS / 5);
  });

  test("failures are grouped in the time of a look", async () => {
    manager = await startHttpManager(books.databaseUrl);
    const beganMs = performance.now();
    const { body } = await manager.call("GET", "/api/v1/task-failures");
    console.log(`failures: ${(performance.now() - beganMs).toFixed(0)} ms`);
    expect(body.items).toMatchObject([{ group: "Error: wall <n> is wet" }, { group: "Error: wall <n> is wet" }]);
  });
});

describe(`beside ${ROWS.toLocaleString("en")} tasks that wait, a page of those that are not over is there within ${LIMIT_MS} ms`, () => {
  const [BUSY, QUIET] = [randomUUID(), randomUUID()];
  /** The oldest are in flight: 200 Sent, 300 Running, of which two thirds on one service; one of a thousand is rare, of both. */
  const WAITING = `
    INSERT INTO tasks (id, type, params, pool, priority, status, due_at, created_at, send_id, sent_at, run_id, service_id)
    SELECT gen_random_uuid(), CASE WHEN n % 1000 = 7 THEN 'rare' ELSE 'mail' END, '{"wall": 1}', 'default', 0,
           CASE WHEN n <= 200 THEN 'Sent' WHEN n <= 500 THEN 'Running' WHEN n % 100 = 0 THEN 'Scheduled' ELSE 'Ready' END, at, at,
           CASE WHEN n <= 500 THEN gen_random_uuid() END, CASE WHEN n <= 500 THEN now() END, CASE WHEN n BETWEEN 201 AND 500 THEN gen_random_uuid() END,
           CASE WHEN n BETWEEN 201 AND 500 THEN CASE WHEN n % 3 = 0 THEN '${QUIET}'::uuid ELSE '${BUSY}' END END
    FROM (SELECT n, now() - interval '1 day' + n * (interval '1 day' / $1::int) AS at FROM generate_series(1, $1::int) AS n) rows`;
  const NOT_OVER = "status=Blocked,Scheduled,Ready,Sent,Running";

  beforeAll(async () => {
    const client = new pg.Client({ connectionString: books.databaseUrl }); // which may take its time, unlike a manager's
    await client.connect();
    await client.query(WAITING, [ROWS]);
    await client.query("ANALYZE tasks");
    await client.end();
    await putService(books.dataSource, { id: BUSY, name: "busy" });
    await putService(books.dataSource, { id: QUIET, name: "quiet" });
  }, 600_000);

  test.each(
    inTurn<[string, string, number | "more"]>([
      ["all", NOT_OVER, "more"],
      ["that run", "status=Running", 300],
      ["that were sent, and of which some run", "status=Sent,Running", 500],
      ["of a type that few have, waiting or not", `type=rare&${NOT_OVER}`, ROWS / 1_000],
      ["of a type that few have, in flight", "type=rare&status=Sent,Running", 1],
      ["of a type that nobody has", `type=nothing&${NOT_OVER}`, 0],
      ["of a status that few have", "status=Scheduled", ROWS / 100 - 5],
      ["that run on a service, by its name", "service=busy", 200],
      ["that run on a service, by its id", `service=${QUIET}`, 100],
      ["of a type that few have, on a service", "service=busy&type=rare", 0],
      ["that run on no service", "service=nobody", 0],
    ]),
  )("%s", async (_, query, total) => {
    manager = await startHttpManager(books.databaseUrl);
    const took: number[] = [];
    while (areTooFew(took)) {
      const { page, tookMs } = await read(query);
      took.push(tookMs);
      expect([page.total, page.isTotalExact]).toEqual(
        total === "more" ? [10_000, false] : [Math.min(total, 10_000), total <= 10_000],
      );
    }
    expectWithinLimit(query, took);
  });

  test.each<Omit<TaskQuery, "limit">>([
    { service: "busy" },
    { service: QUIET },
    { service: "busy", type: "mail", pool: "default" },
    { service: "nobody" },
  ])("of those of a service no more is read than what is in flight: %j", async (query) => {
    const store = new PostgresTaskStore(books.dataSource);
    const asked = await statementsOf(books, async () => void (await store.list({ limit: 100, ...query })));
    const read = await Promise.all(asked.map((one) => rowsReadBy(books, one)));
    console.log(`${JSON.stringify(query)}: ${read.join(" and ")} rows read`);
    expect(read).toHaveLength(2); // what is shown is looked at no more: it waits for nothing
    expect(Math.max(...read)).toBeLessThan(600);
  });

  test.runIf(isTurnOf(2))("none of them reads the table from end to end", async () => {
    manager = await startHttpManager(books.databaseUrl);
    const looks = async () =>
      await queryRows<{ looks: number; reads: number }>(
        books.databaseUrl,
        `SELECT (SELECT sum(idx_scan) FROM pg_stat_user_indexes WHERE indexrelname IN ('tasks_newest', 'tasks_of_type', 'tasks_in_flight'))::int AS looks,
                (SELECT seq_tup_read FROM pg_stat_user_tables WHERE relname = 'tasks')::int AS reads`,
      );
    const [before] = await looks();
    const queries = [
      "",
      NOT_OVER,
      "status=Running",
      `type=rare&${NOT_OVER}`,
      "status=Scheduled",
      "status=Sent,Running&type=mail",
    ];
    for (const query of queries) await read(query);
    // Of each the page and the count, both in one part or two; PostgreSQL tells what a connection has done when it has idled for a second.
    await eventually(async () => ((await looks())[0]?.looks ?? 0) >= (before?.looks ?? 0) + 2 * queries.length, {
      what: "the looks",
    });
    const readInTurn = ((await looks())[0]?.reads ?? 0) - (before?.reads ?? 0);
    console.log(`${readInTurn} rows read in turn, to count 10,000`);
    expect(readInTurn).toBeLessThan(ROWS);
  });

  test("page by page, each is there once, the newest first, whether it waits or runs", async () => {
    manager = await startHttpManager(books.databaseUrl);
    const seen: { id: string; createdAt: string; status: string }[] = [];
    for (let query = `type=rare&limit=7&${NOT_OVER}`; ; ) {
      const { page } = await read(query);
      seen.push(...page.items);
      if (page.nextCursor == null) break;
      query = `type=rare&limit=7&${NOT_OVER}&cursor=${page.nextCursor}`;
    }
    expect(new Set(seen.map(({ id }) => id)).size).toBe(ROWS / 1_000);
    const times = seen.map(({ createdAt }) => createdAt);
    expect(times).toEqual(times.toSorted().toReversed());
    expect(seen.at(-1)?.status).toBe("Sent");
  });
});
