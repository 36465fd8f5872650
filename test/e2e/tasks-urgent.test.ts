import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { windowOf } from "../../services/observer-manager/src/domain/tasks/window.ts";
import { readSpans, type Span } from "../support/acts/spans.ts";
import { eventually } from "../support/eventually.ts";
import { ROOT } from "../support/processes/processes.ts";
import { runCli } from "../support/processes/unacked-cli.ts";
import { proves } from "../support/runs/counts.ts";
import { compiled } from "../support/runs/observers-dir.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { freshSystem, type System } from "../support/system/system.ts";
import { Tasks } from "../support/system/tasks.ts";

const FULL = proves("tasks");
const ENV = { OBSERVERS_DIR: join(ROOT, compiled("limited-tasks")), TASK_WORKERS: "10" };
const WORKERS = 20;
/** Of those that wait each lasts so long. */
const MS = 20;
/** So many are in flight at most, as no more can end in a second than that. */
const WINDOW = windowOf(WORKERS, (WORKERS * 1_000) / MS);
const WAITING = FULL ? 10_000 : 5_000;
const LONG_MS = 12_000;
/** The first only shows how long they last: until that is known, what was short goes to a service in bundles. */
const ROUNDS = 1 + (FULL ? 20 : 3);

let system: System;
let tasks: Tasks;

beforeAll(async () => {
  system = await freshSystem();
  await system.startManager();
  await Promise.all(["one", "two"].map((name) => system.startService(name, { env: ENV })));
});
afterAll(() => system.close());
beforeEach(() => {
  tasks = new Tasks(system);
});

const spansOf = (ids: string[]): Span[] => {
  const wanted = new Set(ids);
  return readSpans(tasks.dir).filter(({ taskId }) => wanted.has(taskId));
};
const inFlight = async (): Promise<number> => (await tasks.list("status=Sent,Running&limit=1")).total;

/** How many of these began between then and that. */
const between = (ids: string[], sinceNs: bigint, { fromNs }: Span): number =>
  spansOf(ids).filter((one) => one.fromNs > sinceNs && one.fromNs < fromNs).length;

async function spanOf(id: string): Promise<Span> {
  await tasks.get(id, "30s");
  const [span] = spansOf([id]);
  if (span === undefined) throw new Error(`task ${id} has not run`);
  return span;
}

test.runIf(isTurnOf(0))(
  "Of thousands that wait the urgent one is next after one window, created so or made so",
  async () => {
    const waiting = await tasks.createMany(WAITING, { ms: MS }, { type: "span" });
    await eventually(() => expect(spansOf(waiting).length).toBeGreaterThan(2 * WORKERS), { timeoutMs: 30_000 });
    const window = await inFlight();
    const { id } = await tasks.create({}, { type: "span", priority: 10 });
    let sinceNs = process.hrtime.bigint();
    const created = between(waiting, sinceNs, await spanOf(id));

    const last = waiting.at(-1) as string;
    const raised = await system.call("PATCH", `/api/v1/tasks/${last}`, { priority: 10 });
    sinceNs = process.hrtime.bigint();
    expect(raised).toMatchObject({ status: 200, body: { priority: 10 } });
    const changed = between(waiting, sinceNs, await spanOf(last));
    const { total: left } = await tasks.list("status=Ready&limit=1");
    expect(left).toBeGreaterThan(0); // or it would have shown nothing

    // It waits for as long as a command line needs to start.
    const { id: later } = await tasks.create({}, { type: "span", startAt: "2999-01-01T00:00:00Z" });
    const { out } = await runCli(["priority", later, "10"], { env: { UNACKED_URL: system.url }, cwd: ROOT });
    expect(out).toContain("has priority 10");
    expect(await tasks.get(later)).toMatchObject({ status: "Scheduled", priority: 10 });
    await system.call("DELETE", `/api/v1/tasks/${later}`);
    process.stdout.write(
      `${WAITING} waiting, ${window} in flight just then, ${WINDOW} at most: ${created} began before the urgent one, ${changed} before the one that was made urgent\n`,
    );
    expect(Math.max(created, changed)).toBeLessThanOrEqual(WINDOW);
    await tasks.untilAllOver(120_000);
    const again = await system.call("PATCH", `/api/v1/tasks/${last}`, { priority: 0 });
    expect(again).toMatchObject({ status: 409, body: { code: "task-over" } });
  },
  240_000,
);

test.runIf(isTurnOf(1))(
  "An urgent task is never behind a long one while a worker elsewhere is free",
  async () => {
    const took: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const long = await tasks.createMany(WORKERS - 1, { ms: LONG_MS }, { type: "span" });
      await eventually(async () => expect((await tasks.list("status=Running&limit=1")).total).toBe(WORKERS - 1), {
        timeoutMs: 10_000,
      });
      const createdNs = process.hrtime.bigint();
      const { id } = await tasks.create({}, { type: "span", priority: 10 });
      const { fromNs } = await spanOf(id);
      if (round > 0) took.push(Math.round(Number(fromNs - createdNs) / 1e6));
      expect(spansOf(long)).toEqual([]); // all of them still ran
      await tasks.untilAllOver();
    }
    process.stdout.write(
      `one of ${WORKERS} workers free, the others busy for ${LONG_MS} ms: began after ${took.join(", ")} ms\n`,
    );
    // A second where the services have yet to tell that they are long now: until then such tasks travel together.
    expect(Math.max(...took)).toBeLessThan(LONG_MS);
  },
  ROUNDS * 2 * LONG_MS,
);

test.runIf(isTurnOf(2))("kill -9 of its service: a task runs elsewhere at once", async () => {
  const { id } = await tasks.create({ ms: 5_000 }, { type: "span" });
  const { service } = await tasks.untilStatus(id, "Running");
  const killedNs = process.hrtime.bigint();
  await system.service(service?.name as string).kill("SIGKILL");
  const { fromNs } = await spanOf(id);
  const elsewhereMs = Math.round(Number(fromNs - killedNs) / 1e6);
  process.stdout.write(
    `kill -9: ran elsewhere after ${elsewhereMs} ms (by default River rescues an hour after the start, Oban, with its Lifeline, after 60 minutes, graphile-worker after 4 hours)\n`,
  );
  expect(elsewhereMs).toBeLessThan(15_000); // a busy machine
  expect(await tasks.get(id)).toMatchObject({ status: "Completed", interruptions: 1 });
});
