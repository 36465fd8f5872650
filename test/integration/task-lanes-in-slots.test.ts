import { randomUUID } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { newTaskId, type SendId, type StartTask, type TaskEvent, type TaskId } from "@unacked/contracts";
import { beforeEach, describe, expect, test } from "vitest";
import { partsOf } from "../../services/observer-service/src/keeper/tasks/task-message.ts";
import { TaskRunner } from "../../services/observer-service/src/keeper/tasks/task-runner.ts";
import { mostAtOnce, readSpans } from "../support/acts/spans.ts";
import { eventually } from "../support/eventually.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { openSlots } from "../support/slots/real-slots.ts";

/** Real slots, and a keeper's runner of tasks with no broker, which holds its lease for as long as the test lasts: lanes whose tasks stand behind one another in a slot. */

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "unacked-lanes-"));
});

async function keeper({ slots = 1, folder = "edge-tasks" } = {}) {
  const { handlers, ...parts } = await openSlots(folder, slots);
  const told: TaskEvent[] = [];
  let isHeld = true;
  const runner = new TaskRunner({
    ...{ ...parts, handlers, workers: 9, takenBack: () => expect.fail("nothing is taken back") },
    types: new Map(handlers.catalogue.tasks.map((entry) => [entry.type, entry])),
    paces: { note: () => undefined },
    events: {
      tell: (event: TaskEvent, onConfirmed?: () => void) => {
        told.push(event);
        onConfirmed?.();
      },
    },
    holds: () => isHeld,
  });
  const loseLease = () => {
    isHeld = false;
    runner.fence();
  };
  return { runner, told, handlers, loseLease };
}

const spans = (...each: object[]): StartTask[] => each.map((more) => task("span", { dir, ...more }));
const works = (...each: object[]): StartTask[] => each.map((more) => task("work", { dir, ...more }));
const task = (type: string, params: object): StartTask => ({
  ...{ taskId: newTaskId(), sendId: randomUUID() as SendId, pool: "default", failures: 0, type, params: params as never },
});

/** Their message, which has to be acked once, and not before all is told of them. */
function message(tasks: readonly StartTask[]) {
  const settled: string[] = [];
  const settle = (how: string) => settled.push(how) > 0;
  const delivery = { generation: 1, deliveryCount: 0, settle, shed: () => undefined };
  return { parts: partsOf(delivery as never, tasks.length), settled };
}

function take(runner: TaskRunner, tasks: StartTask[]) {
  const { parts, settled } = message(tasks);
  runner.acceptLane(tasks, parts);
  return settled;
}

const kinds = (told: TaskEvent[], taskId: TaskId) =>
  told.filter((event) => "taskId" in event && event.taskId === taskId).map(({ kind }) => kind);
const outcome = (told: TaskEvent[], taskId: TaskId) =>
  told.flatMap((event) => (event.kind === "TaskEnded" && event.taskId === taskId ? [event.outcome] : []));
/** By the tasks' own acts: who has begun, in that order, by slot. */
const begun = () => readdirSync(dir).flatMap((file) => readFileSync(join(dir, file), "utf8").trim().split("\n"));

test("they run one after the other, in their order, each told of once as begun and ended, and their message is acked", async () => {
  const { runner, told } = await keeper({ slots: 2 });
  const lanes = Array.from({ length: 5 }, () =>
    spans(...Array.from({ length: 40 }, (_, i) => ({ ms: i % 9 === 0 ? 2 : 0 }))),
  );
  const settled = lanes.map((lane) => take(runner, lane));
  await runner.idle();
  const all = readSpans(dir);
  expect(all).toHaveLength(200);
  for (const lane of lanes) {
    const ids = lane.map(({ taskId }) => taskId as string);
    const own = all.filter(({ taskId }) => ids.includes(taskId)).toSorted((a, b) => Number(a.fromNs - b.fromNs));
    expect(own.map(({ taskId }) => taskId)).toEqual(ids);
    expect(mostAtOnce(own)).toBe(1);
    for (const { taskId } of lane) expect(kinds(told, taskId)).toEqual(["TaskStarted", "TaskEnded"]);
  }
  expect(settled).toEqual(lanes.map(() => ["ack"]));
});

test.runIf(isTurnOf(0))(
  "what fails, does not pass its schema, or is of no type, costs those behind it nothing",
  async () => {
    const { runner, told } = await keeper({ slots: 2 });
    const lane = [
      ...works({ failures: 9 }, { ms: "long" }, {}),
      task("unheard-of", {}),
      ...works({ isFinal: true }, {}, { kills: 1 }, {}),
    ];
    const settled = take(runner, lane);
    await runner.idle();
    const outcomes = lane.map(({ taskId }) => outcome(told, taskId)[0]);
    expect(outcomes).toEqual([
      "failed",
      "failed",
      "completed",
      "unknown-type",
      "failed",
      "completed",
      "failed",
      "completed",
    ]);
    expect(settled).toEqual(["ack"]);
  },
);

test.runIf(isTurnOf(0))("one that is cancelled where it stands never begins, and those behind it do", async () => {
  const { runner, told } = await keeper();
  const lane = works({ ms: 5_000 }, {}, {}, {});
  const [first, second, third] = lane as [StartTask, StartTask, StartTask];
  take(runner, lane);
  await eventually(() => expect(begun()).toContain(first.taskId));
  runner.cancel(second.taskId, second.sendId);
  await eventually(() => expect(outcome(told, second.taskId)).toEqual(["cancelled"]));
  expect(outcome(told, first.taskId)).toEqual([]); // it was told without waiting for the one before it
  runner.cancel(first.taskId, first.sendId);
  await runner.idle();
  expect(lane.map(({ taskId }) => outcome(told, taskId)[0])).toEqual(["cancelled", "cancelled", "completed", "completed"]);
  expect(kinds(told, third.taskId)).toEqual(["TaskStarted", "TaskEnded"]);
  expect(begun()).not.toContain(second.taskId);
});

test.runIf(isTurnOf(2))(
  "who stands for a second behind one that is long goes back without having begun, told of as nothing else",
  async () => {
    const { runner, told } = await keeper();
    const lane = works({ ms: 5_000 }, ...Array.from({ length: 12 }, () => ({})));
    const settled = take(runner, lane);
    const others = lane.slice(1);
    await eventually(() => expect(told.filter(({ kind }) => kind === "TaskReturned")).toHaveLength(others.length));
    for (const { taskId } of others) expect(kinds(told, taskId)).toEqual(["TaskReturned"]);
    expect(settled).toEqual([]);
    await runner.idle();
    expect(begun()).toEqual([lane[0]?.taskId]);
    expect(settled).toEqual(["ack"]);
  },
);

describe("a slot that ends in the middle of a lane", () => {
  test.runIf(isTurnOf(2))(
    "one of the lane ends it: it alone is blamed, nothing that had ended runs again, and the others run once",
    async () => {
      const { runner, told } = await keeper({ slots: 2, folder: "tasks" });
      const lane = works({}, {}, { kills: true }, {}, {}, {});
      const settled = take(runner, lane);
      await runner.idle();
      const outcomes = lane.map(({ taskId }) => outcome(told, taskId)[0]);
      expect(outcomes).toEqual(["completed", "completed", "crashed", "completed", "completed", "completed"]);
      const counts = lane.map(({ taskId }) => begun().filter((id) => id === taskId).length);
      console.log(`begun: ${counts.join(" ")}`);
      expect(counts.toSpliced(2, 1)).toEqual([1, 1, 1, 1, 1]);
      expect(settled).toEqual(["ack"]);
    },
  );

  test.runIf(isTurnOf(1))(
    "it is killed from outside: who ran runs again, who stood behind has not begun, and of no lane two run at once",
    async () => {
      const { runner, told, handlers } = await keeper({ slots: 2 });
      const whileFile = join(dir, "held");
      writeFileSync(whileFile, "");
      const lanes = Array.from({ length: 4 }, () =>
        spans({ ms: 1 }, { whileFile }, ...Array.from({ length: 20 }, () => ({ ms: 5 }))),
      );
      const settled = lanes.map((lane) => take(runner, lane));
      const busy = await eventually(() => {
        for (const lane of lanes) expect(kinds(told, lane[1]?.taskId as TaskId)).toEqual(["TaskStarted"]);
        return handlers.slots().find(({ runs }) => runs === 2) ?? expect.fail("no slot runs two");
      });
      process.kill(busy.pid, "SIGKILL");
      await eventually(() => expect(handlers.slots().map(({ pid }) => pid)).not.toContain(busy.pid));
      rmSync(whileFile);
      await runner.idle();
      const all = readSpans(dir);
      const again = lanes.map((lane) => lane.filter(({ taskId }) => kinds(told, taskId).length > 2).length);
      expect(again.toSorted()).toEqual([0, 0, 1, 1]); // those two that ran in it
      for (const lane of lanes) {
        const ids = lane.map(({ taskId }) => taskId as string);
        expect(mostAtOnce(all.filter(({ taskId }) => ids.includes(taskId)))).toBe(1);
        const [first, second, ...others] = lane.map(({ taskId }) => kinds(told, taskId).join());
        expect(first).toBe("TaskStarted,TaskEnded");
        expect(["TaskStarted,TaskEnded", "TaskStarted,TaskStarted,TaskEnded"]).toContain(second);
        // Where the new slot took more than a second to load, they have gone back.
        for (const one of others) expect(["TaskStarted,TaskEnded", "TaskReturned"]).toContain(one);
      }
      expect(all).toHaveLength(told.filter(({ kind }) => kind === "TaskEnded").length); // each writes itself down when it ends
      expect(settled).toEqual(lanes.map(() => ["ack"]));
    },
  );
});

test.runIf(isTurnOf(0))("after a lost lease none of a lane goes on, and none is told of as ended", async () => {
  const { runner, told, loseLease } = await keeper();
  const lane = works({ ms: 5_000 }, {}, {}, {});
  const settled = take(runner, lane);
  await eventually(() => expect(begun()).toHaveLength(1));
  loseLease();
  await runner.idle();
  expect(begun()).toHaveLength(1);
  expect(told.map(({ kind }) => kind)).toEqual(["TaskStarted", ...lane.map(() => "TaskReleased")]);
  expect(settled).toEqual([]);
});
