import { randomUUID } from "node:crypto";
import type { QueryRunner } from "typeorm";
import { beforeEach, expect, test } from "vitest";
import { LOOK } from "../../services/observer-manager/src/adapters/postgres/tasks/claims/pool-floors.ts";
import { CLAIM, CLAIM_FROM } from "../../services/observer-manager/src/adapters/postgres/tasks/claims/task-claim.ts";
import { CLAIM_PLAIN } from "../../services/observer-manager/src/adapters/postgres/tasks/claims/task-claim-plain.ts";
import { COMPANIONS } from "../../services/observer-manager/src/adapters/postgres/tasks/claims/task-joining.ts";
import {
  COUNT_READY,
  PostgresTaskQueueStore,
} from "../../services/observer-manager/src/adapters/postgres/tasks/claims/task-queue-store.ts";
import { TAKE } from "../../services/observer-manager/src/adapters/postgres/tasks/takes/task-take.ts";
import {
  PostgresTaskTakeStore,
  WAITING,
} from "../../services/observer-manager/src/adapters/postgres/tasks/takes/task-take-store.ts";
import { newAction } from "../../services/observer-manager/src/operations/access/audit.ts";
import { eventually } from "../support/eventually.ts";
import { SOMEBODY, useBooks } from "../support/servers/books.ts";
import { putReady, putTaskService } from "../support/system/waiting-tasks.ts";

/* Whatever PostgreSQL knows of the tasks when it plans: no claim goes past all that waits. */

const books = useBooks("tasks, task_types, task_services, audit");
const sql = (text: string) => books.dataSource.query(text);

const MANY = 100_000;
/** A claim of ten reads some hundred; all that wait are some thousands. */
const FEW_PAGES = 1_000;

beforeEach(async () => {
  await sql("ALTER TABLE tasks SET (autovacuum_enabled = off)");
  await putTaskService(books.dataSource, { types: ["many", "rare"] });
  await sql("INSERT INTO task_types (type, min_running, paused) VALUES ('rare', 2, false)");
});

const takeAction = (): string =>
  JSON.stringify({
    id: randomUUID(),
    actor: "a",
    role: "operator",
    authentication: "token",
    address: "",
    request_id: "r",
    deed: "task.take",
  });

const asSql = (value: unknown): string => {
  if (Array.isArray(value)) return value.length === 0 ? "'{}'" : `ARRAY[${value.map(asSql).join(", ")}]`;
  return typeof value === "number" ? `${value}` : `'${value}'`;
};

/** Prepared, so that it can be planned for these parameters or for any. */
async function pagesReadBy(runner: QueryRunner, statement: string, parameters: unknown[]): Promise<number> {
  await runner.query(`PREPARE this AS ${statement}`);
  const plan = await runner.query(`EXPLAIN (ANALYZE, BUFFERS) EXECUTE this(${parameters.map(asSql).join(", ")})`);
  await runner.query("DEALLOCATE this");
  const text = plan.map((row: { "QUERY PLAN": string }) => row["QUERY PLAN"]).join("\n");
  const [, hit = "0", read = "0"] = /Buffers: shared(?: hit=(\d+))?(?: read=(\d+))?/.exec(text) ?? [];
  return Number(hit) + Number(read);
}

test.each(["VACUUM (ANALYZE) tasks", "ANALYZE tasks"])(
  "Nothing goes past all of a type that waits to find another, after %s",
  async (analyze) => {
    await putReady(books.dataSource, MANY, { type: "many" });
    await sql(analyze);
    const types = ["many", "rare"];
    const statements: Record<string, [text: string, parameters: unknown[]]> = {
      claim: [CLAIM, ["default", 40, 20, types]],
      "claim of the rare": [CLAIM, ["default", 40, 20, ["rare"]]],
      "claim with floors": [CLAIM_FROM, ["default", 40, 20, types, "-infinity", "-infinity", [], []]],
      "plain claim": [CLAIM_PLAIN, ["default", 60, ["many"], []]],
      companions: [COMPANIONS, ["default", "rare", 10, randomUUID()]],
      take: [TAKE, ["default", 10, 60_000, types, "a", takeAction()]],
      "take of the rare": [TAKE, ["default", 10, 60_000, ["rare"], "a", takeAction()]],
      "look for floors": [LOOK, ["default", types]],
      "count of the rare": [COUNT_READY, ["default", "rare", 1_000]],
      "who waits for the rare": [WAITING, [["default"], ["rare"]]],
    };
    const runner = books.dataSource.createQueryRunner();
    try {
      const read: Record<string, number> = {};
      for (const mode of ["force_custom_plan", "force_generic_plan"]) {
        await runner.query(`SET plan_cache_mode = ${mode}`);
        for (const [name, [text, parameters]] of Object.entries(statements))
          read[`${name}, ${mode}`] = await pagesReadBy(runner, text, parameters);
      }
      expect(Object.entries(read).filter(([, pages]) => pages > FEW_PAGES)).toEqual([]);
    } finally {
      await runner.query("RESET plan_cache_mode");
      await runner.release();
    }
  },
);

/** As PostgreSQL leaves it where a vacuum has come after everything was worked off. */
async function thoughtEmpty(): Promise<void> {
  await putReady(books.dataSource, 2_000, { type: "many" });
  await sql("DELETE FROM tasks");
  await sql("VACUUM (TRUNCATE OFF) tasks");
  await putReady(books.dataSource, MANY, { type: "many" });
  expect(await known()).toBe(0);
}

const known = async (): Promise<number> =>
  (await sql("SELECT reltuples::int AS rows FROM pg_class WHERE oid = 'tasks'::regclass"))[0].rows;

test("A claim that is slow as PostgreSQL thinks that nothing waits is the last that is", async () => {
  await thoughtEmpty();
  const queue = new PostgresTaskQueueStore(books.dataSource);
  await eventually(async () => {
    expect((await queue.claim("default", { window: 1_000_000, workers: 20, types: ["rare"] })).tasks).toEqual([]);
    expect((await queue.claim("default", { window: 20, workers: 20, types: ["many"] })).tasks.length).toBeLessThanOrEqual(
      20,
    );
    expect(await known()).toBeGreaterThan(MANY / 2);
  });
});

test("So is a take", async () => {
  await thoughtEmpty();
  const takes = new PostgresTaskTakeStore(books.dataSource);
  const asked = { pool: "default", types: ["many"], count: 1, leaseMs: 60_000 };
  await eventually(async () => {
    expect((await takes.take(asked, newAction("task.take", SOMEBODY))).tasks).toHaveLength(1);
    expect(await known()).toBeGreaterThan(MANY / 2);
  });
});
