import { randomUUID } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import { COMPLETIONS } from "../../services/observer-manager/src/adapters/postgres/tasks/ledger/task-completions.ts";
import { ENDS } from "../../services/observer-manager/src/adapters/postgres/tasks/ledger/task-ends.ts";
import { RELEASES, RETURNS } from "../../services/observer-manager/src/adapters/postgres/tasks/ledger/task-returns.ts";
import { STARTS } from "../../services/observer-manager/src/adapters/postgres/tasks/ledger/task-starts.ts";
import { PostgresTaskDays } from "../../services/observer-manager/src/adapters/postgres/tasks/upkeep/task-days.ts";
import { useBooks } from "../support/servers/books.ts";
import { putReady } from "../support/system/waiting-tasks.ts";

/*
 * What the ledger writes of 500 tasks, while 20,000 more wait, after a vacuum that found the table empty: PostgreSQL plans for one row then.
 * Counted is what its steps went past.
 */

const TOLD = 500;
const WAITING = 20_000;

const books = useBooks();
const query = <Row>(sql: string, parameters: unknown[] = []) => books.dataSource.query<Row[]>(sql, parameters);
let sent: { id: string; send: string; run: string }[];

beforeAll(async () => {
  await new PostgresTaskDays(books.dataSource).makeAhead();
  await putReady(books.dataSource, 2_000);
  await query("DELETE FROM tasks");
  await query("VACUUM (TRUNCATE OFF, ANALYZE) tasks");
  expect(await query("SELECT reltuples, relpages > 0 AS pages FROM pg_class WHERE relname = 'tasks'")).toEqual([
    { reltuples: 0, pages: true },
  ]);
  await putReady(books.dataSource, WAITING);
  sent = await query(
    `WITH sent AS (
       UPDATE tasks SET status = 'Running', send_id = gen_random_uuid(), sent_at = now(), run_id = gen_random_uuid(),
         service_id = gen_random_uuid()
       WHERE id = ANY(ARRAY(SELECT id FROM tasks LIMIT $1)) RETURNING id, send_id AS send, run_id AS run)
     SELECT * FROM sent`,
    [TOLD],
  );
});

interface Step {
  "Actual Rows": number;
  "Actual Loops": number;
  "Rows Removed by Filter"?: number;
  "Rows Removed by Join Filter"?: number;
  Plans?: Step[];
}

const passed = (step: Step): number =>
  (step["Actual Rows"] + (step["Rows Removed by Filter"] ?? 0) + (step["Rows Removed by Join Filter"] ?? 0)) *
    step["Actual Loops"] +
  (step.Plans ?? []).reduce((sum, one) => sum + passed(one), 0);

/** What the statement goes past; nothing of it stays. */
async function passedBy(statement: string, parameters: unknown[]): Promise<number> {
  const runner = books.dataSource.createQueryRunner();
  await runner.startTransaction();
  try {
    const [row] = await runner.query(`EXPLAIN (ANALYZE, FORMAT JSON) ${statement}`, parameters);
    return passed(row["QUERY PLAN"][0].Plan);
  } finally {
    await runner.rollbackTransaction();
    await runner.release();
  }
}

const all = <Value>(value: Value): Value[] => Array.from({ length: TOLD }, () => value);
const sends = (): unknown[] => [sent.map(({ id }) => id), sent.map(({ send }) => send)];
const started = (): unknown[] => [
  ...sends(),
  sends()[1],
  all(randomUUID()),
  all(1),
  all("alpha"),
  all(null),
  all(0),
  all(null),
];

/** Each is let go of by the run that it has. */
const told = (): string[] => sent.map(({ run }) => JSON.stringify([run]));

/** Each with each of those that are told, which an array that names them bounds it to; and all that wait, once. */
const BOUNDED = TOLD * TOLD + 2 * WAITING;
/** Each once or twice. */
const NO_LOOP = 2 * WAITING + 20 * TOLD;

test.each([
  ["starts", BOUNDED, () => passedBy(STARTS, started())],
  ["releases", BOUNDED, () => passedBy(RELEASES, [...sends(), told()])],
  [
    "returns",
    BOUNDED,
    () => passedBy(RETURNS, [...sends(), all(true), all(randomUUID()), all(0), all(null), all(true), all(null)]),
  ],
  ["completions", NO_LOOP, () => passedBy(COMPLETIONS, [...started(), all("{}"), all(1)])],
  [
    "ends",
    NO_LOOP,
    () => passedBy(ENDS, [...started(), all("completed"), all(null), all(null), all(null), all(1), all(null)]),
  ],
  [
    "ends of what is tried again",
    BOUNDED,
    () => passedBy(ENDS, [...started(), all("failed"), all(null), all("{}"), all(1_000), all(1), all(null)]),
  ],
] as const)("%s of 500 do not read all that waits for each of them", async (_, most, count) => {
  const rows = await count();
  console.log(`${rows} rows, at most ${most}; each with each: ${TOLD * WAITING}`);
  expect(rows).toBeGreaterThan(TOLD);
  expect(rows).toBeLessThan(most);
});

test.each([
  ["completions", COMPLETIONS, [all("{}"), all(1)], [{ hasFlowEnds: false, some: [] }]],
  ["ends", ENDS, [all("failed"), all(null), all("{}"), all(1_000), all(1), all(null)], []],
] as const)("%s that name the send of another of these tasks change nothing", async (_, statement, more, nothing) => {
  const before = await query("SELECT * FROM tasks WHERE status = 'Running' ORDER BY id");
  const [ids, [first, ...others], ...rest] = started() as [string[], string[], ...unknown[]];
  const told = await query(statement, [ids, [...others, first], ...rest, ...more]);
  expect(told).toEqual(nothing);
  expect(before).toHaveLength(TOLD);
  expect(await query("SELECT * FROM tasks WHERE status = 'Running' ORDER BY id")).toEqual(before);
  expect(await query("SELECT FROM ended_tasks")).toEqual([]);
});
