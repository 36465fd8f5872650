import { OBSERVER_STATUSES } from "@unacked/contracts";
import pg from "pg";
import { beforeAll, describe, expect, test } from "vitest";
import {
  foldCounts,
  readFreeWorkers,
} from "../../services/observer-manager/src/adapters/postgres/observers/observer-counts.ts";
import { readStats } from "../../services/observer-manager/src/adapters/postgres/overview/stats-reads.ts";
import { UnevenPools } from "../../services/observer-manager/src/adapters/postgres/overview/uneven-pools.ts";
import { postgresReads } from "../../services/observer-manager/src/adapters/postgres/postgres-reads.ts";
import { decodeObserverCursor } from "../../services/observer-manager/src/operations/cursor.ts";
import type { ManagerReads } from "../../services/observer-manager/src/operations/manager-reads.ts";
import type { ObserverQuery } from "../../services/observer-manager/src/operations/observers/observer-tools.ts";
import { type TestBooks, useBooks } from "../support/servers/books.ts";

/** `MANY_ROWS=1000000 npx vitest run --project servers test/integration/manager-many-rows` also says how long each read takes. */
const ROWS = Number(process.env.MANY_ROWS ?? 50_000);
const LOOKS = 100;

/** As it is: nearly all run, few are in each other status, few are labelled. */
const FILL = `
  INSERT INTO observers (id, name, type, params, labels, pool, retry, status, current_run_id, current_service_id,
                         attempts, created_at, start_next_at)
  SELECT gen_random_uuid(), 'o-' || n, CASE WHEN n % 3 = 0 THEN 'ticker' ELSE 'http-poll' END, '{}',
         CASE WHEN n % 1000 = 0 THEN '{"rare": "yes"}' ELSE '{}' END::jsonb, 'default', '{}', status,
         CASE WHEN runs THEN gen_random_uuid() END, CASE WHEN runs THEN $3::uuid END, 1, now() - n * interval '1 second',
         CASE WHEN status = 'Scheduled' THEN now() + interval '1 day' END
  FROM generate_series(1, $1) n, LATERAL (SELECT CASE WHEN n % 100 = 0 THEN ($2::text[])[1 + (n / 100) % cardinality($2::text[])] ELSE 'Processing' END AS status) s,
       LATERAL (SELECT s.status IN ('Processing', 'Retrying') AS runs) r`;

const books = useBooks();
let reads: ManagerReads;
const sent: { sql: string; parameters: unknown[] }[] = [];

beforeAll(async () => {
  await load(books.databaseUrl);
  const query = books.dataSource.query.bind(books.dataSource);
  const recording = Object.create(books.dataSource) as TestBooks["dataSource"];
  recording.query = (sql: string, parameters: unknown[] = []) => {
    sent.push({ sql, parameters });
    return query(sql, parameters);
  };
  reads = postgresReads(recording, async () => null);
}, 600_000);

const SERVICE = "00000000-0000-4000-8000-000000000001";

/** The indexes of the real schema, put up after the rows: so a million rows take seconds rather than minutes. */
async function load(databaseUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const { rows: indexes } = await client.query(
    "SELECT indexname, indexdef FROM pg_indexes WHERE tablename = 'observers' AND indexname <> 'observers_pkey'",
  );
  await client.query("SET maintenance_work_mem = '256MB'");
  for (const { indexname } of indexes) await client.query(`DROP INDEX ${indexname}`);
  await client.query(FILL, [ROWS, OBSERVER_STATUSES, SERVICE]);
  for (const { indexdef } of indexes) await client.query(indexdef);
  await client.query("VACUUM ANALYZE observers");
  await client.end();
}

/** How PostgreSQL does what these reads asked for: every node of every plan that looks at `observers`. */
async function waysToObservers(read: () => Promise<unknown>): Promise<string[]> {
  sent.length = 0;
  await read();
  expect(sent.length).toBeGreaterThan(0);
  const ways: string[] = [];
  for (const { sql, parameters } of [...sent]) {
    const [row] = await books.dataSource.query(`EXPLAIN (FORMAT JSON) ${sql}`, parameters);
    ways.push(...waysIn(row["QUERY PLAN"][0].Plan));
  }
  return ways;
}

type Plan = { "Node Type": string; "Relation Name"?: string; "Index Name"?: string; Plans?: Plan[] };

function waysIn(plan: Plan): string[] {
  const isOfObservers = plan["Relation Name"] === "observers" || plan["Index Name"]?.startsWith("observers") === true;
  const own = isOfObservers ? [`${plan["Node Type"]} ${plan["Index Name"] ?? ""}`.trim()] : [];
  return [...own, ...(plan.Plans ?? []).flatMap(waysIn)];
}

/** Of some looks, in ms. */
async function timesOf(read: () => Promise<unknown>): Promise<{ p50: number; p95: number }> {
  const took: number[] = [];
  for (let i = 0; i < LOOKS; i += 1) {
    const beganAt = performance.now();
    await read();
    took.push(performance.now() - beganAt);
  }
  took.sort((a, b) => a - b);
  const [p50 = 0, p95 = 0] = [took[Math.floor(LOOKS * 0.5)], took[Math.floor(LOOKS * 0.95)]];
  return { p50, p95 };
}

const isAlive = (status: string) => status !== "Deleted";
const list = (query: Partial<ObserverQuery>) => () => reads.listObservers({ sort: "newest", limit: 100, ...query });

describe("of a great many observers", () => {
  test.each<[string, () => Promise<unknown>, string]>([
    ["the newest", list({}), "observers_newest"],
    ["the newest of a status", list({ status: ["Failed"] }), "observers_by_status"],
    ["those with the most attempts", list({ sort: "attempts" }), "observers_by_attempts"],
    ["those with a label", list({ labels: { rare: "yes" } }), "observers_by_labels"],
    [
      "a page of all that live, by columns",
      () => reads.listObserverColumns({ sort: "newest", limit: 2_500, status: OBSERVER_STATUSES.filter(isAlive) }),
      "observers_newest",
    ],
    ["one by its name", () => reads.findObserver({ kind: "name", name: "o-777" }), "observers_name_of_living"],
    ["one by its id", () => reads.findObserver({ kind: "id", id: SERVICE as never }), "observers_pkey"],
  ])("%s are found by an index, and no other is looked at", async (_what, read, index) => {
    const ways = await waysToObservers(read);
    expect(ways.join("; ")).toContain(index);
    expect(ways.filter((way) => way.startsWith("Seq Scan"))).toEqual([]);
  });

  test("the figures of the whole, and of a status, type or pool, are read without a look at one", async () => {
    const stats = await waysToObservers(() => reads.stats());
    // What has waited longest is looked for, among those that wait; and the few that are silent, began again and again, or found no worker at their time.
    const few = ["observers_by_status", "observers_silent", "observers_restarted", "observers_to_start"];
    expect(
      stats.filter((way) => !few.some((index) => way.includes(index)) && way !== "Index Only Scan observers_on_service"),
    ).toEqual([]);
    sent.length = 0;
    const { total } = await list({ status: ["Failed"], type: "ticker", pool: "default" })();
    expect(sent.filter(({ sql }) => sql.includes("count(*)::int AS total"))).toEqual([]);
    const [row] = await books.dataSource.query(
      "SELECT count(*)::int AS total FROM observers WHERE status = 'Failed' AND type = 'ticker'",
    );
    expect(total).toBe(row.total);
  });
});

/** Only where somebody asked for so many: how long they take says something on a calm machine alone. */
if (process.env.MANY_ROWS !== undefined)
  test("how long each read takes", async () => {
    const { nextCursor } = await reads.listObservers({ sort: "newest", limit: 1_000 });
    const after = decodeObserverCursor(nextCursor ?? "", "newest");
    const uneven = new UnevenPools(books.dataSource);
    const READS: Record<string, () => Promise<unknown>> = {
      "list: the newest 100": list({}),
      "list: the newest 1,000": list({ limit: 1_000 }),
      "list: the next 1,000": list({ limit: 1_000, ...(after && { after }) }),
      "list: 100 by status": list({ status: ["Failed"] }),
      "list: 100 by two statuses": list({ status: ["Failed", "Retrying"] }),
      "list: 100 by type": list({ type: "ticker" }),
      "list: 100 by pool": list({ pool: "default" }),
      "list: 100 with the most attempts": list({ sort: "attempts" }),
      "list: 100 by a label that one in a thousand has": list({ labels: { rare: "yes" } }),
      "list: 100 by service, which runs nearly all": list({ service: SERVICE }),
      "list: 100 by a part of the name": list({ q: "o-777" }),
      "one by its name": () => reads.findObserver({ kind: "name", name: "o-777" }),
      "stats: all counts": () => readStats(books.dataSource, async () => null, uneven),
    };
    const lines: string[] = [];
    for (const [what, read] of Object.entries(READS)) {
      const { p50, p95 } = await timesOf(read);
      lines.push(`| ${what} | ${p50.toFixed(1)} ms | ${p95.toFixed(1)} ms |`);
    }
    console.log(`of ${ROWS.toLocaleString("en-US")} rows, p50 and p95 of ${LOOKS}\n${lines.join("\n")}`);
    expect(lines.length).toBe(Object.keys(READS).length);
  }, 600_000);

describe("the kept counts", () => {
  test("are those of the table, with many that change it side by side, and while they are put together", async () => {
    const writers = [1, 2, 3].map((seed) => changeAtRandom(seed, 15));
    const folds = Array.from({ length: 10 }, () => foldCounts(books.dataSource));
    await Promise.all([...writers, ...folds]);
    expect(await counted("sum(count)::int", "observer_counts")).toEqual(await counted("count(*)::int", "observers"));
    await foldCounts(books.dataSource);
    const kept = await books.dataSource.query("SELECT pool, type, status FROM observer_counts");
    expect(kept.length).toBe(new Set(kept.map((row: object) => JSON.stringify(row))).size);
    expect(await counted("sum(count)::int", "observer_counts")).toEqual(await counted("count(*)::int", "observers"));
  });

  test("know nothing of what was rolled back, and go with the table when it is emptied", async () => {
    const before = await counted("sum(count)::int", "observer_counts");
    const undone = books.dataSource.transaction(async (tx) => {
      await tx.query("UPDATE observers SET type = 'other' WHERE name LIKE 'o-2____'");
      throw new Error("undone");
    });
    await expect(undone).rejects.toThrow("undone");
    expect(await counted("sum(count)::int", "observer_counts")).toEqual(before);
    await books.dataSource.query("TRUNCATE observers");
    expect(await counted("sum(count)::int", "observer_counts")).toEqual([]);
  });
});

test("the kept counts are put together where half of them would say the same, however many types and pools there are", async () => {
  const { dataSource } = books;
  await dataSource.query("TRUNCATE observers");
  const put = (count: number) =>
    dataSource.query("INSERT INTO observer_counts SELECT 'p' || n, 't', 'Created', 1 FROM generate_series(1, $1::int) n", [
      count,
    ]);
  const rows = () =>
    dataSource.query("SELECT count(*)::int AS count, count(DISTINCT xmin::text) AS writers FROM observer_counts");
  const ask = () => dataSource.transaction((tx) => readFreeWorkers(tx, "p1", ["t"]));
  await put(600);
  await put(600);
  const before = await ask();
  expect(await rows()).toEqual([{ count: 1_200, writers: "2" }]);
  await put(1);
  expect(await ask()).toEqual({
    ...before,
    ofPool: before.ofPool - 1,
    ofType: new Map([["t", Number(before.ofType.get("t")) - 1]]),
  });
  expect(await rows()).toEqual([{ count: 600, writers: "1" }]);
  await dataSource.query("TRUNCATE observers");
});

const counted = (count: string, from: string) =>
  books.dataSource.query(
    `SELECT pool, type, status, ${count} AS count FROM ${from} GROUP BY 1, 2, 3 HAVING ${count} <> 0 ORDER BY 1, 2, 3`,
  );

/** Two that remove the same rows in another order would wait for each other. */
const REMOVE_SOME = `DELETE FROM observers WHERE id IN
  (SELECT id FROM observers WHERE status = 'Deleted' AND name LIKE 'o-1%' FOR UPDATE SKIP LOCKED)`;

/** Moves, adds and removes some, in transactions of a few statements. */
async function changeAtRandom(seed: number, times: number): Promise<void> {
  for (let i = 0; i < times; i += 1) {
    await books.dataSource.transaction(async (tx) => {
      const some = `id IN (SELECT id FROM observers WHERE status <> 'Deleted' AND right(name, 1) = '${(seed * 3 + i) % 10}'
                           ORDER BY id LIMIT 50 FOR UPDATE SKIP LOCKED)`;
      const none = "current_run_id = NULL, current_service_id = NULL";
      await tx.query(`UPDATE observers SET status = 'Redistributing', ${none} WHERE ${some}`);
      await tx.query(`UPDATE observers SET status = 'Deleted', ${none} WHERE ${some}`);
      if (i % 3 === seed % 3) await tx.query(REMOVE_SOME);
    });
  }
}
