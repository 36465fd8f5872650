import type { DataSource } from "typeorm";
import { afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { PostgresTaskQueueStore } from "../../services/observer-manager/src/adapters/postgres/tasks/claims/task-queue-store.ts";
import type { Bundle } from "../../services/observer-manager/src/domain/tasks/bundles.ts";
import { TaskClaimer } from "../../services/observer-manager/src/operations/tasks/dispatch/task-claimer.ts";
import { keptLog, useBooks } from "../support/servers/books.ts";
import { changeLimits } from "../support/system/limits.ts";
import { putReady, putTaskService } from "../support/system/waiting-tasks.ts";

/* How many go in line behind one that a limit lets through. Of sixty lanes each may be 1.2 s long: 24 tasks of 50 ms. */

const WORKERS = 60;
const MEAN_MS = 50;
const MOST = 24;
/** What a lane does within 0.1 s. */
const IN_A_TURN = 2;

const books = useBooks("tasks, task_types, task_services");
let db: DataSource;
let claimer: TaskClaimer;

beforeAll(() => {
  db = books.dataSource;
});

/** A thousand have ended within the last second; all but one of sixty lanes are taken, and nothing else waits. */
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  await putTaskService(db, { workers: WORKERS, meanMs: MEAN_MS });
  await changeLimits(db, "work", { maxRunning: WORKERS });
  claimer = new TaskClaimer({ store: new PostgresTaskQueueStore(db), log: keptLog() });
  for (let ended = 0; ended < 1_000; ended += WORKERS - 1) {
    await db.query("DELETE FROM tasks");
    vi.advanceTimersByTime(1_000 * ((WORKERS - 1) / 1_000));
    await putReady(db, WORKERS - 1);
    expect((await claim()).flatMap(({ tasks }) => tasks)).toHaveLength(WORKERS - 1);
  }
});
afterEach(() => void vi.useRealTimers());

async function claim(): Promise<Bundle[]> {
  await claimer.lookAtPaces();
  return (await claimer.claim({ pool: "default", workers: WORKERS, types: ["work"] })).bundles;
}

test.for([
  { waiting: 1, lane: 1, why: "nobody else waits" },
  { waiting: 12, lane: IN_A_TURN, why: "few wait: soon other lanes are free" },
  { waiting: 1 + 60 * 10, lane: 1 + 10, why: "each lane has its share of them" },
  { waiting: 5_000, lane: MOST, why: "many wait" },
])("Of $waiting that wait one lane takes $lane: $why", async ({ waiting, lane }) => {
  await putReady(db, waiting);
  expect((await claim()).map(({ tasks }) => tasks.length)).toEqual([lane]);
});
