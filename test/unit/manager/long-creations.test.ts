import type { CreateTask } from "@unacked/contracts";
import { expect, test } from "vitest";
import type { InsertOutcome } from "../../../services/observer-manager/src/operations/tasks/creations/insert-outcome.ts";
import { TaskDesk, type TaskDeskParts } from "../../../services/observer-manager/src/operations/tasks/desk/task-desk.ts";

const MANY = 200;
const SOMEBODY = { name: "somebody", role: "operator", authentication: "token", address: "10.0.0.1" } as never;

/** How many tasks each transaction creates of as many requests, all of which come while the first is under way. */
async function transactionsOf(params: unknown): Promise<number[]> {
  const transactions: number[] = [];
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  const insert: TaskDeskParts["store"]["insert"] = async (asked) => {
    transactions.push(asked.length);
    if (transactions.length === 1) await held;
    return asked.map(
      ({ task }): InsertOutcome => ({ kind: "created", id: task.id, task: () => ({}) as never, sendId: null }),
    );
  };
  const types = { liveTypes: async () => ({ services: 0, types: [], outside: [] }) };
  const desk = new TaskDesk({ store: { insert }, types, wake: () => undefined } as unknown as TaskDeskParts);
  const task = { type: "t", pool: "default", priority: 0, onConflict: "reject", params } as unknown as CreateTask;
  const answers = Array.from({ length: MANY }, () => desk.createTasks([task], SOMEBODY));
  await expect.poll(() => transactions.length).toBe(1);
  release();
  expect((await Promise.all(answers)).flat().map(({ kind }) => kind)).toEqual(Array(MANY).fill("created"));
  return transactions;
}

test("Creations that come at once share a transaction as far as their params are 16 MiB together", async () => {
  expect(await transactionsOf({})).toEqual([1, MANY - 1]);
  const long = await transactionsOf("x".repeat(262_000));
  expect(Math.max(...long)).toBeLessThan(65);
});
