import { join } from "node:path";
import type { AuditPage, TaskTypeList, TaskTypeView } from "@unacked/contracts";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { windowOf } from "../../services/observer-manager/src/domain/tasks/window.ts";
import { mostInASecond } from "../support/acts/rates.ts";
import { mostAtOnce, readSpans } from "../support/acts/spans.ts";
import { eventually } from "../support/eventually.ts";
import { ROOT } from "../support/processes/processes.ts";
import { runCli } from "../support/processes/unacked-cli.ts";
import { proves } from "../support/runs/counts.ts";
import { compiled } from "../support/runs/observers-dir.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { queryRows } from "../support/servers/servers.ts";
import { freshSystem, type System } from "../support/system/system.ts";
import { Tasks } from "../support/system/tasks.ts";
import { LongestTransaction } from "../support/tasks/longest-transaction.ts";

const FULL = proves("tasks");
const ENV = { OBSERVERS_DIR: join(ROOT, compiled("limited-tasks")), TASK_WORKERS: "10" };

let system: System;
let tasks: Tasks;

/** Every claim, whatever becomes of its task. */
const KEEP_CLAIMS = [
  "CREATE TABLE claims (type text, at timestamptz)",
  `CREATE FUNCTION keep_claim() RETURNS trigger LANGUAGE plpgsql AS
     'BEGIN INSERT INTO claims VALUES (NEW.type, NEW.sent_at); RETURN NULL; END'`,
  `CREATE TRIGGER keep_claims AFTER UPDATE ON tasks FOR EACH ROW
     WHEN (NEW.status = 'Sent' AND OLD.status = 'Ready') EXECUTE FUNCTION keep_claim()`,
];

const run = <Row extends object>(sql: string) => queryRows<Row>(system.env.DATABASE_URL as string, sql);

beforeAll(async () => {
  system = await freshSystem();
  await system.startManager();
  for (const statement of KEEP_CLAIMS) await run(statement);
  await Promise.all(["one", "two"].map((name) => system.startService(name, { env: ENV })));
});
afterAll(() => system.close());
beforeEach(async () => {
  tasks = new Tasks(system);
  await limit({ paused: false, maxRunning: null, minRunning: 0, ratePerSecond: null });
});

async function limit(change: object, type = "span"): Promise<TaskTypeView> {
  const { status, body } = await system.call<TaskTypeView>("PATCH", `/api/v1/task-types/${type}`, change);
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
}

const createSpans = (count: number, ms: number) => tasks.createMany(count, { ms }, { type: "span" });

test("No more than seven run at once where so many may, by their own acts", async () => {
  await limit({ maxRunning: 7 });
  const count = FULL ? 1_000 : 100;
  await createSpans(count, FULL ? 20 : 200); // long enough that seven meet on a slow machine, too
  await tasks.untilAllOver(120_000);
  const spans = readSpans(tasks.dir);
  expect(spans).toHaveLength(count);
  expect(mostAtOnce(spans)).toBe(7);
});

const IN_LINE = "SELECT count(*)::int AS count FROM tasks WHERE lane <> id AND status IN ('Sent', 'Running')";

/** The most that waited in line behind others at once, until all are over; with them no more than seven calls are in flight. */
async function mostInLine(): Promise<number> {
  let [most, isOver] = [0, false];
  const over = tasks.untilAllOver(120_000).finally(() => {
    isOver = true;
  });
  while (!isOver) {
    const [row] = await run<{ count: number }>(IN_LINE);
    most = Math.max(most, row?.count ?? 0);
    const { items } = (await system.call<TaskTypeList>("GET", "/api/v1/task-types")).body;
    expect(items.find(({ type }) => type === "span")?.inFlight).toBeLessThanOrEqual(7);
  }
  await over;
  return most;
}

/** On a machine that is busy for a moment a type is not short, and nobody is to wait in line for it. */
const MAX_ROUNDS = 20;

test.runIf(isTurnOf(2))(
  "No more than seven of a short type run at once, though others wait in line behind each of them",
  async () => {
    const count = FULL ? 10_000 : 1_500;
    await createSpans(200, 0);
    await tasks.untilAllOver(); // so that it is known how short they are
    let [inLine, atOnce] = [0, 0];
    for (let round = 0; (inLine <= 7 || atOnce < 7) && round < MAX_ROUNDS; round += 1) {
      await limit({ maxRunning: 7, paused: true });
      tasks = new Tasks(system);
      await createSpans(count, 1);
      const watched = mostInLine();
      await limit({ paused: false });
      inLine = Math.max(inLine, await watched);
      const spans = readSpans(tasks.dir);
      expect(spans).toHaveLength(count);
      expect(mostAtOnce(spans)).toBeLessThanOrEqual(7);
      atOnce = Math.max(atOnce, mostAtOnce(spans));
    }
    console.log(`at most ${atOnce} at once, ${inLine} in line behind them`);
    expect(inLine).toBeGreaterThan(7);
    expect(atOnce).toBe(7);
  },
);

test.runIf(isTurnOf(1))(
  "The limit is changed while they run: it holds from its answer on, and what there is room for starts at once",
  async () => {
    await limit({ maxRunning: 2 });
    await createSpans(1_200, 50);
    await eventually(() => expect(readSpans(tasks.dir).length).toBeGreaterThan(5));
    await limit({ maxRunning: 9 });
    await eventually(() => expect(mostAtOnce(readSpans(tasks.dir))).toBe(9), { what: "nine at once" });
    await limit({ paused: true });
    const sent = new Set((await tasks.list("status=Sent,Running&limit=1000")).items.map(({ id }) => id));
    const lookedNs = process.hrtime.bigint();
    await eventually(async () => expect((await tasks.list("status=Sent,Running")).items).toEqual([]));
    const { items, total } = await tasks.list("status=Ready&limit=5");
    expect(total).toBeGreaterThan(0);
    expect(items.map(({ waitsFor }) => waitsFor)).toContain("paused");
    // What was sent before goes on, in its lane, too; nothing else begins.
    expect(readSpans(tasks.dir).filter(({ fromNs, taskId }) => fromNs > lookedNs && !sent.has(taskId))).toEqual([]);
    await limit({ paused: false });
    await tasks.untilAllOver();
  },
);

/** Of the type that has no minimum each runs for so long. */
const OTHERS_MS = 1_500;

test.runIf(isTurnOf(0))(
  "A type with a minimum is served while many of another wait that last for long",
  async () => {
    const waiting = FULL ? 1_000_000 : 20_000;
    await limit({ minRunning: 2 }, "kept");
    await run(
      `INSERT INTO tasks (id, type, params, pool, priority, due_at, status)
     SELECT gen_random_uuid(), 'span', '{"dir": "${tasks.dir}", "ms": ${OTHERS_MS}}', 'default', 100, now(), 'Ready'
     FROM generate_series(1, ${waiting})`,
    );
    // 20 workers, two of which are kept. (They end together, so there are moments with none.)
    const allOthers = () =>
      eventually(async () => expect((await tasks.list("status=Running&type=span")).total).toBe(18), { what: "18 others" });
    await allOthers();
    const took: number[] = [];
    const watch = await LongestTransaction.watch(system.env.DATABASE_URL as string);
    for (let i = 0; i < 20; i += 1) {
      const { id, createdAt } = await tasks.create({}, { type: "kept", params: {} });
      const { startedAt } = await tasks.get(id, "20s");
      took.push(Date.parse(startedAt ?? "") - Date.parse(createdAt));
    }
    const { ms, bareMs, statement } = await watch.end();
    const sorted = took.toSorted((a, b) => a - b);
    process.stdout.write(
      `kept for: ${waiting} others waiting, started after ${sorted[10]} ms (p50), ${sorted[19]} ms (most); a bare client beside it was ${bareMs} ms late at most; the longest transaction ${ms} ms: ${statement}\n`,
    );
    await allOthers();
    // Whoever had to wait for one of the others would have waited for as long as they last. On a machine that stands still now and then some do.
    expect(sorted[10]).toBeLessThan(FULL ? 100 : 700);
    expect(sorted[15]).toBeLessThan(OTHERS_MS);
    if (FULL) expect(sorted[19]).toBeLessThan(bareMs + 100);
    await run("DELETE FROM tasks WHERE status = 'Ready'");
    await run("VACUUM ANALYZE tasks"); // a million dead rows at once are nobody's case
    await tasks.untilAllOver();
    expect(mostAtOnce(readSpans(tasks.dir))).toBe(18);
    await limit({ minRunning: 0 }, "kept");
  },
  240_000,
);

test.runIf(isTurnOf(0))(
  "No second holds more starts than the rate allows, and none is made up for after the manager was killed",
  async () => {
    const [rate, seconds] = [50, FULL ? 30 : 6];
    await limit({ ratePerSecond: rate });
    await run("TRUNCATE claims");
    await createSpans(rate * (seconds + 10), 0);
    const count = async () => (await run<{ count: number }>("SELECT count(*)::int AS count FROM claims"))[0]?.count ?? 0;
    await eventually(async () => expect(await count()).toBeGreaterThan(0));
    const [began] = await run<{ at: Date }>("SELECT min(at) AS at FROM claims");
    await eventually(
      async () => {
        const [row] = await run<{ over: boolean }>(
          `SELECT clock_timestamp() > '${began?.at.toISOString()}'::timestamptz + interval '${seconds} seconds' AS over`,
        );
        expect(row?.over).toBe(true);
      },
      { timeoutMs: 60_000 },
    );
    const within = `SELECT count(*)::int AS count FROM claims WHERE at < '${began?.at.toISOString()}'::timestamptz + interval '${seconds} seconds'`;
    const claimed = (await run<{ count: number }>(within))[0]?.count ?? 0;
    await system.managers.at(-1)?.kill("SIGKILL");
    await system.startManager();
    await tasks.untilAllOver(60_000);
    const rows = await run<{ micros: string }>("SELECT extract(epoch FROM at) * 1000000 AS micros FROM claims");
    const most = mostInASecond(rows.map(({ micros }) => Number(micros)));
    process.stdout.write(`${rate} a second: ${claimed} in ${seconds} s, at most ${most} in any second\n`);
    expect(most).toBeLessThanOrEqual(rate);
    // What was claimed and not published when the manager was killed was claimed once more.
    expect(rows.length).toBeGreaterThanOrEqual(rate * (seconds + 10));
    expect(rows.length).toBeLessThanOrEqual(rate * (seconds + 11));
    expect(claimed).toBeGreaterThanOrEqual(rate * seconds * (FULL ? 0.98 : 0.5)); // a busy machine wakes late
  },
  240_000,
);

test.runIf(isTurnOf(1))("Why a task waits is said, and who limited its type", async () => {
  await limit({ maxRunning: 1 });
  const [first = "", second = ""] = await createSpans(2, 60_000);
  await tasks.untilStatus(first, "Running");
  // Sent, too: what was short until now goes in line behind it, and back to the books after a second.
  expect(await tasks.get(second)).toMatchObject({ status: expect.stringMatching("Ready|Sent"), waitsFor: "max-running" });
  await tasks.untilStatus(second, "Ready");
  expect(await tasks.get(second)).toMatchObject({ waitsFor: "max-running" });
  const elsewhere = await tasks.create({}, { type: "span", pool: "nowhere" });
  expect(elsewhere).toMatchObject({ status: "Ready", waitsFor: "service" });
  const later = await tasks.create({ ms: 0 }, { type: "span", startAt: "2999-01-01T00:00:00Z" });
  expect(later.waitsFor).toBe("due-time");
  const unacked = (...args: string[]) => runCli(args, { env: { UNACKED_URL: system.url }, cwd: tasks.dir });
  expect((await unacked("describe", "task", second)).out).toMatch(/Waits for: +max-running/);
  expect(await unacked("limit", "span", "--max-running", "none", "--rate", "50", "--pause")).toMatchObject({ code: 0 });
  expect((await tasks.get(second)).waitsFor).toBe("paused");
  const { body } = await system.call<TaskTypeList>("GET", "/api/v1/task-types");
  expect(body.items).toMatchObject([
    { type: "kept", paused: false, services: 2 },
    { type: "span", paused: true, maxRunning: null, ratePerSecond: 50, inFlight: 1, services: 2 },
  ]);
  expect((await unacked("get", "task-types")).out).toMatch(/span +paused +1 +- +- +50 +2/);
  const refused = await unacked("limit", "span", "--min-running", "9", "--max-running", "8");
  expect(refused.err).toContain("9 is more than maxRunning (8)");
  expect((await unacked("limit", "spam", "--pause")).err).toContain("No such task type");
  const { body: audit } = await system.call<AuditPage>("GET", "/api/v1/audit?action=task-type.change&limit=1");
  expect(audit.items).toMatchObject([
    { targets: [{ kind: "task-type", id: "span" }], details: { maxRunning: null, ratePerSecond: 50, paused: true } },
  ]);
  for (const id of [later.id, elsewhere.id, second, first]) await system.call("DELETE", `/api/v1/tasks/${id}`);
  await limit({ paused: false });
  await tasks.untilAllOver();
});

/** So many are in flight at most where nothing is limited, whatever ends a second: a limit of that is never reached. */
const NEVER_REACHED = windowOf(20, Number.POSITIVE_INFINITY);

test.runIf(FULL)(
  "A limit that is never reached costs less than half as much again, and how much is printed",
  async () => {
    const doneIn = async (maxRunning: number | null): Promise<number> => {
      await limit({ paused: true, maxRunning }, "kept");
      await tasks.createMany(10_000, {}, { type: "kept", params: {} });
      const beganMs = performance.now();
      await limit({ paused: false }, "kept");
      await tasks.untilAllOver(120_000);
      return performance.now() - beganMs;
    };
    const took: { free: number[]; limited: number[] } = { free: [], limited: [] };
    await doneIn(null); // so that it is known how short they are
    for (let i = 0; i < 5; i += 1) {
      took.free.push(await doneIn(null));
      took.limited.push(await doneIn(NEVER_REACHED));
    }
    const atWorkers = await doneIn(20);
    // The best of five by turns: what else the machine does takes longer from some of them.
    const [free, limited] = [Math.min(...took.free), Math.min(...took.limited)];
    const cost = Math.round((limited / free - 1) * 1_000) / 10;
    process.stdout.write(
      `10,000 that do nothing: ${Math.round(free)} ms; limited to ${NEVER_REACHED}, which is never reached: ${Math.round(limited)} ms (${cost} %); to the 20 workers: ${Math.round(atWorkers)} ms\n`,
    );
    expect(limited).toBeLessThan(free * 1.5);
    await limit({ maxRunning: null }, "kept");
  },
  600_000,
);
