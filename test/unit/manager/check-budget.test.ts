import { type CreateObserver, CreateTask, type SendId, type TaskId } from "@unacked/contracts";
import { expect, test } from "vitest";
import type { TaskWord } from "../../../services/observer-manager/src/domain/tasks/task-words.ts";
import { checkCreations } from "../../../services/observer-manager/src/operations/tasks/creations/creation-check.ts";
import { TaskCreations } from "../../../services/observer-manager/src/operations/tasks/ledger/task-creations.ts";
import { TypeCheck } from "../../../services/observer-manager/src/operations/types/type-check.ts";

const COUNT = 3_000;
/** In some 40 ms. */
const SLOWLY_WRONG = { name: "aaaaaaaaaaaaaaaaaaaaaa!" };

/** Each its own: one that has taken too long three times is not used any more. */
const schemaWith = (pattern: string) => ({
  type: "object",
  properties: { name: { type: "string", pattern }, more: { const: Math.random() } },
});
/** For each letter more twice as long. */
const badSchema = () => schemaWith("^(\\w+\\s?)*$");

const livePools = async () => [];
const thereAmong = async () => [];
const knowing = (paramsSchema: object) => {
  const live = { services: 1, types: [{ type: "work", paramsSchema }] as never[], outside: [], withoutAdmission: [] };
  return { liveTypes: async () => live, livePools, thereAmong };
};

const tasks = (params: object) => Array.from({ length: COUNT }, () => CreateTask.parse({ type: "work", params }));
const ofRest = (schema: object) => checkCreations(knowing(schema), tasks(SLOWLY_WRONG));
const ofObservers = (schema: object) => {
  const request = { name: "o", type: "work", pool: "default", params: SLOWLY_WRONG } as unknown as CreateObserver;
  return new TypeCheck(knowing(schema), () => true).check(Array.from({ length: COUNT }, () => request));
};
const ofHandlers = (schema: object) => {
  const [id, sendId] = ["01932f5b-1d22-7b63-9a1f-6c8dab2e3f12" as TaskId, "01932f5d-3f44-4d85-bc31-8eafcd405111" as SendId];
  const creations = Array.from({ length: COUNT }, () => JSON.stringify({ id, type: "work", params: SLOWLY_WRONG }));
  const end = { outcome: "completed", creations };
  const words = [{ taskId: id, sendId, pool: "default", end } as unknown as TaskWord];
  return new TaskCreations(knowing(schema), []).of(words);
};

/** How long everybody else has had to wait at most, in ms of CPU, and how much was used in all. */
async function measured(work: () => Promise<unknown>): Promise<{ longestMs: number; allMs: number }> {
  let isDone = false;
  let [longestMs, allMs] = [0, 0];
  let began = process.cpuUsage();
  const turn = () => {
    const { user, system } = process.cpuUsage(began);
    began = process.cpuUsage();
    const ms = (user + system) / 1_000;
    longestMs = Math.max(longestMs, ms);
    allMs += ms;
    if (!isDone) setImmediate(turn);
  };
  setImmediate(turn);
  await work().finally(() => (isDone = true));
  await new Promise((resolve) => setImmediate(resolve));
  return { longestMs, allMs };
}

test.each([
  ["of a batch", ofRest],
  ["of observers", ofObservers],
  ["of what a handler creates", ofHandlers],
])("an expression that takes long for each %s has its time once, and others go on meanwhile", async (_, check) => {
  const schema = badSchema();
  for (let call = 0; call < 4; call += 1) {
    const { longestMs, allMs } = await measured(() => check(schema));
    expect(allMs).toBeLessThan(5_000); // each alone, they would take two minutes
    expect(longestMs).toBeLessThan(1_000);
    if (call === 3) expect(allMs).toBeLessThan(1_000); // three calls were spent on it: it is not used any more
  }
});

test("what is accepted unchecked is what came after the time, and in its place", async () => {
  const checked = await checkCreations(knowing(badSchema()), tasks(SLOWLY_WRONG));
  const isRefused = checked.map((one) => "kind" in one);
  expect(checked).toHaveLength(COUNT);
  expect(isRefused[0]).toBe(true);
  expect(isRefused.indexOf(false)).toBeLessThan(COUNT / 2);
  expect(isRefused.lastIndexOf(true)).toBe(isRefused.indexOf(false) - 1);
});

test("ten thousand that are wrong by an honest expression are refused each", async () => {
  const wrong = Array.from({ length: 10_000 }, (_, i) =>
    CreateTask.parse({ type: "work", params: { name: i % 2 ? "a" : "A" } }),
  );
  const checked = await checkCreations(knowing(schemaWith("^[a-z]+$")), wrong);
  expect(checked.map((one) => "kind" in one)).toEqual(wrong.map((_, i) => i % 2 === 0));
});

test("ten thousand mistyped ones share one list of the types that are known", async () => {
  const types = Array.from({ length: 1_000 }, (_, i) => ({ type: `type-${i}`, paramsSchema: {} }));
  const liveTypes = async () => ({ services: 1, types, outside: [] });
  const mistyped = Array.from({ length: 10_000 }, () => CreateTask.parse({ type: "wrk" }));
  const checked = await checkCreations({ liveTypes, livePools, thereAmong }, mistyped);
  const lists = new Set((checked as { knownTypes: string[] }[]).map(({ knownTypes }) => knownTypes));
  expect([...lists].map(({ length }) => length)).toEqual([1_000]);
});
