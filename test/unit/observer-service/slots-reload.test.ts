import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  DEFAULT_RETRY,
  newMessageId,
  newObserverId,
  newRunId,
  type SendId,
  type StartTask,
  type TaskEvent,
  type TaskId,
} from "@unacked/contracts";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Runner } from "../../../services/observer-service/src/keeper/runs/runner.ts";
import { SlotHandlers } from "../../../services/observer-service/src/keeper/slots/handlers/slot-handlers.ts";
import { TaskRunner } from "../../../services/observer-service/src/keeper/tasks/task-runner.ts";
import { createLog } from "../../../services/observer-service/src/log.ts";
import { eventually } from "../../support/eventually.ts";
import { saveFolder } from "../../support/slots/bare-folder.ts";
import { bareSlots } from "../../support/slots/bare-slots.ts";

const log = createLog("silent");

describe("slots whose folder is loaded again", { timeout: 240_000 }, () => {
  let dir: string;
  let handlers: SlotHandlers;
  let runner: Runner;
  let observers = 0;

  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), "unacked-slots-"));
    observers = 0;
  });
  afterEach(async () => {
    await handlers.close(0);
    rmSync(dir, { recursive: true, force: true });
  });

  /** By type: the print of its code. Those of `own…` ask for a slot of their own. */
  const save = (prints: Record<string, string>, brokenFiles: string[] = []) => {
    const code = Object.entries(prints).map(([type, print]) => ({ type, file: `${type}.ts`, print }));
    const broken = brokenFiles.map((file) => ({ file, problem: "it does not load" }));
    const isolation = code.flatMap(({ type }) => (type.startsWith("own") ? [{ type, runsPerSlot: 1 }] : []));
    saveFolder(dir, [], { isolation, broken, code });
  };
  const open = async (count: number, max: number, prints: Record<string, string>) => {
    save(prints);
    handlers = new SlotHandlers(bareSlots({ dir, count, max }), log);
    await handlers.open();
    runner = new Runner({
      ...{ handlers, log, stopTimeoutMs: 60_000, tailBytes: 8_192 },
      events: { tell: () => undefined },
      errors: { report: () => Promise.resolve() },
      holds: () => true,
      output: () => Promise.resolve(),
    });
  };
  const observe = (type: string, count = 1) => {
    for (let i = 0; i < count; i += 1) {
      const ids = { observerId: newObserverId(), messageId: newMessageId(), revision: 1, name: `${type}-${i}` };
      const start = { ...ids, type, params: {}, labels: {}, retry: DEFAULT_RETRY, pool: "default" };
      const delivery = { generation: 1, deliveryCount: 0, settle: () => true, queue: "q" };
      runner.accept({ start: { ...start, createdAt: new Date().toISOString() }, delivery: delivery as never });
    }
    observers += count;
    return untilAllRun();
  };
  /** Stays where it is, whatever is loaded. */
  const work = (type: string) => {
    const task = { ...{ observerId: newObserverId(), name: type, type, labels: {}, params: {} }, retry: DEFAULT_RETRY };
    handlers.start({} as never, { start: task, runId: newRunId(), log, taskAttempt: 1 });
    observers += 1;
    return untilAllRun();
  };
  /** In slots, and by the newest code. */
  const untilAllRun = () =>
    eventually(() => {
      expect(handlers.slots().reduce((sum, { runs }) => sum + runs, 0)).toBe(observers);
      expect(handlers.outdated(false)).toEqual([]);
    });
  /** Of tasks of this type. */
  const workers = (type: string) => {
    const types = new Map([[type, { type } as never]]);
    const told: TaskEvent[] = [];
    const tasks = new TaskRunner({
      ...{ handlers, types, workers: 10, stopTimeoutMs: 60_000, log, holds: () => true, takenBack: () => undefined },
      paces: { note: () => undefined },
      events: { tell: (event) => void told.push(event) },
    });
    return { tasks, types, told };
  };
  const message = { generation: 1, deliveryCount: 0, isShared: false, settle: () => true };
  const taskOf = (taskId: string, type: string): StartTask =>
    ({ taskId, sendId: taskId, type, params: {}, pool: "default", failures: 0 }) as never;
  const reload = async (prints: Record<string, string>, brokenFiles: string[] = []) => {
    save(prints, brokenFiles);
    const word = await handlers.reload();
    if (word.kind !== "refused") runner.renew(word.kind === "loaded" ? word : {});
    return word;
  };

  test("those that have a slot of their own go over, though every slot that all share has somebody who stays", async () => {
    await open(4, 8, { steady: "1", changed: "1", own: "1" });
    await observe("steady", 8);
    await observe("changed", 8);
    await observe("own");
    await reload({ steady: "1", changed: "2", own: "2" });
    await untilAllRun();
    await observe("own");
  });

  test("those that go over are spread over all slots that may be new, and wait while these still load", async () => {
    await open(8, 16, { changed: "1" });
    await observe("changed", 80);
    await reload({ changed: "2" });
    await untilAllRun();
    expect(Math.max(...handlers.slots().map(({ runs }) => runs))).toBeLessThanOrEqual(30);
  });

  test("the only new one is replaced when it dies, though old ones have taken all places", async () => {
    await open(1, 2, { steady: "1", changed: "1" });
    for (const version of ["2", "3"]) {
      await work("steady");
      await reload({ steady: "1", changed: version });
    }
    const pidOfFree = () => handlers.slots().find(({ purpose, runs }) => purpose === "shared" && runs === 0)?.pid;
    const only = pidOfFree() ?? 0;
    process.kill(only, "SIGKILL");
    await eventually(() => expect(pidOfFree()).not.toBe(only));
    await observe("changed");
  });

  test("a load that only takes types away leaves no more slots than there were", async () => {
    await open(1, 9, { steady: "1", changed: "1", gone: "1" });
    await observe("steady");
    await reload({ steady: "1", changed: "1" });
    await reload({ steady: "1" });
    await eventually(() => expect(handlers.slots().map(({ purpose }) => purpose)).toEqual(["shared", "spare"]));
  });

  test("a task that waits for a slot ends as unknown when its type is gone", async () => {
    await open(1, 5, { steady: "1", own: "1" });
    const { tasks, types, told } = workers("own");
    for (const taskId of ["a", "b", "c"]) tasks.accept(taskOf(taskId, "own"), message);
    observers = 2; // there may be five slots: one is everybody's, and two are kept for suspects
    await untilAllRun();
    await reload({ steady: "1" });
    types.clear();
    await eventually(() => expect(told.at(-1)).toMatchObject({ kind: "TaskEnded", taskId: "c", outcome: "unknown-type" }));
    expect(tasks.size).toBe(2);
  });

  test("who stands behind another in a slot of older code begins in one of the newer, when that one has ended", async () => {
    await open(1, 9, { changed: "1" });
    const { tasks, told } = workers("changed");
    tasks.acceptLane([taskOf("a", "changed"), taskOf("b", "changed"), taskOf("c", "changed")], {
      ...message,
      isShared: true,
    });
    const pidOfBusy = () => handlers.slots().find(({ runs }) => runs === 1)?.pid;
    const old = pidOfBusy();
    await reload({ changed: "2" });
    await eventually(() =>
      expect(handlers.slots().some(({ purpose, pid }) => purpose === "shared" && pid !== old)).toBe(true),
    );
    expect(told.map(({ kind }) => kind)).toEqual(["TaskStarted"]);
    tasks.cancel("a" as TaskId, "a" as SendId);
    await eventually(() => expect(told.at(-1)).toMatchObject({ kind: "TaskStarted", taskId: "b" }));
    await eventually(() => expect(pidOfBusy()).not.toBe(old));
    expect(pidOfBusy()).toBeDefined();
  });

  test("a file that loaded before refuses the load when it is broken; one that is new costs its own types alone", async () => {
    await open(1, 9, { steady: "1", changed: "1" });
    expect(await reload({ steady: "1", changed: "2" }, ["new.ts"])).toMatchObject({ kind: "loaded", changed: ["changed"] });
    expect(handlers.catalogue.broken).toMatchObject([{ file: "new.ts" }]);
    expect(await reload({ steady: "2" }, ["changed.ts", "new.ts"])).toMatchObject({
      kind: "refused",
      broken: [{ file: "changed.ts" }],
    });
    // At once, while new slots still load.
    expect(await reload({ steady: "1", changed: "2" }, ["newer.ts"])).toEqual({ kind: "unchanged" });
    expect(handlers.catalogue.broken).toMatchObject([{ file: "newer.ts" }]);
  });
});
