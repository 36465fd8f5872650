import { newMessageId, type SendId, type StartTask } from "@unacked/contracts";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { LetGo } from "../../../services/observer-service/src/keeper/tasks/let-go.ts";
import { TaskIntake, type TaskIntakeParts } from "../../../services/observer-service/src/keeper/tasks/task-intake.ts";

const newSend = (): SendId => newMessageId() as string as SendId;

describe("what went back to the queue without a word", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test("is named for a minute, counted from the last time", () => {
    const letGo = new LetGo();
    const [early, late] = [newSend(), newSend()];
    letGo.remember(early);
    letGo.remember(late);
    vi.advanceTimersByTime(40_000);
    letGo.remember(early);
    vi.advanceTimersByTime(40_000);
    expect(letGo.lately).toEqual([early]);
    vi.advanceTimersByTime(40_000);
    expect(letGo.lately).toEqual([]);
  });

  test("is 20,000 sends at most, the oldest go first", () => {
    const letGo = new LetGo();
    const sends = Array.from({ length: 20_001 }, newSend);
    for (const send of sends) letGo.remember(send);
    expect(letGo.lately).toEqual(sends.slice(1));
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
