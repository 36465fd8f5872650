import { newMessageId, type SendId, type StartTask } from "@unacked/contracts";
import { describe, expect, test } from "vitest";
import { Lately } from "../../../services/observer-service/src/keeper/lately.ts";
import { TaskIntake, type TaskIntakeParts } from "../../../services/observer-service/src/keeper/tasks/task-intake.ts";

const newSend = (): SendId => newMessageId() as string as SendId;

describe("what was noted lately", () => {
  test("is told for a minute, counted from the last time", () => {
    const lately = new Lately<SendId>({ keptMs: 60_000, most: 20_000 });
    const [early, late] = [newSend(), newSend()];
    lately.note(early, 0);
    lately.note(late, 0);
    lately.note(early, 40_000);
    expect(lately.since(80_000)).toEqual([[early, 40_000]]);
    expect(lately.since(120_000)).toEqual([]);
  });

  test("is 20,000 at most, the oldest go first", () => {
    const lately = new Lately<SendId>({ keptMs: 60_000, most: 20_000 });
    const sends = Array.from({ length: 20_001 }, newSend);
    for (const send of sends) lately.note(send, 0);
    expect(lately.since(0).map(([send]) => send)).toEqual(sends.slice(1));
  });
});

test.each(["StartTask", "TaskBundle"] as const)("who drains names the tasks of a %s that goes straight back", (type) => {
  const named: StartTask[] = [];
  const runner = { letGo: (tasks: readonly StartTask[]) => named.push(...tasks) };
  const intake = new TaskIntake({ runner, holds: () => true } as unknown as TaskIntakeParts);
  const tasks = Array.from({ length: type === "StartTask" ? 1 : 2 }, () => ({
    taskId: newMessageId(),
    sendId: newSend(),
    pool: "default",
    type: "work",
    params: {},
    failures: 0,
  }));
  const body = type === "StartTask" ? tasks[0] : { kind: "TaskBundle", pool: "default", tasks };
  const settled: string[] = [];
  intake.drain();
  intake.take({
    body: Buffer.from(JSON.stringify(body)),
    properties: { type },
    settle: (how: string) => void settled.push(how),
  } as unknown as Parameters<TaskIntake["take"]>[0]);
  expect(named.map(({ sendId }) => sendId)).toEqual(tasks.map(({ sendId }) => sendId));
  expect(settled).toEqual(["requeue"]);
});
