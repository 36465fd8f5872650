import type { SendId, TaskEnded, TaskId } from "@unacked/contracts";
import { expect, test } from "vitest";
import type { TaskWord } from "../../../services/observer-manager/src/domain/tasks/task-words.ts";
import { TaskCreations, toRefused } from "../../../services/observer-manager/src/operations/tasks/ledger/task-creations.ts";

const SEND = "01932f5d-3f44-4d85-bc31-8eafcd405111" as SendId;
const PARENT = "01932f5b-1d22-7b63-9a1f-6c8dab2e3f11" as TaskId;
const ID = "01932f5b-1d22-7b63-9a1f-6c8dab2e3f12";

const completed = (creations: string[], outcome: TaskEnded["outcome"] = "completed"): TaskWord =>
  ({ taskId: PARENT, sendId: SEND, pool: "own", end: { outcome, creations } as TaskEnded }) as TaskWord;

const types = {
  async liveTypes() {
    return { services: 1, types: [{ type: "resize", paramsSchema: { type: "object", required: ["url"] } }], outside: [] };
  },
};
const creationsOf = async (task: unknown, pools: string[] = []) => {
  const json = typeof task === "string" ? task : JSON.stringify(task);
  return (await new TaskCreations(types, pools).of([completed([json])])).get(SEND);
};
const task = { type: "resize", params: { url: "x" }, id: ID };

test("what is right is a request in its creator's pool, with its creator", async () => {
  const found = await creationsOf(task);
  expect(found).toMatchObject({ wanted: [{ ...task, pool: "own", parentId: PARENT, priority: 0 }], refused: [] });
});

test("of what has not completed nothing is created", async () => {
  const found = await new TaskCreations(types, []).of([completed([JSON.stringify(task)], "failed")]);
  expect(found.size).toBe(0);
});

test.each([
  ["{", "invalid-body", ""],
  ["null", "invalid-body", ""],
  [{ ...task, id: undefined }, "invalid-body", "it has no id"],
  [{ ...task, priority: 9_999 }, "invalid-body", "/priority"],
  [{ ...task, params: { url: "a\u0000" } }, "invalid-body", "/params/url"],
  [{ ...task, colour: "red" }, "invalid-body", "/colour"],
  [{ ...task, params: {} }, "invalid-body", "/params"],
  [{ ...task, params: { url: "x".repeat(300_000) } }, "body-too-large", ""],
  [{ ...task, type: "resise" }, "unknown-type", "resise"],
  [{ ...task, pool: "other" }, "forbidden", "TASK_CREATION_POOLS"],
  [{ ...task, id: { toString: 1, valueOf: 1 } }, "invalid-body", "/id"],
  [{ ...task, type: { toString: 1, valueOf: 1 } }, "invalid-body", "/type"],
])("what is wrong is refused, with why: %j", async (wrong, code, detail) => {
  const found = await creationsOf(wrong);
  expect(found).toMatchObject({ wanted: [], refused: [{ code, detail: expect.stringContaining(detail) }] });
});

test.each([["other"], ["*"]])("a pool that the setting names may be created in: %s", async (pool) => {
  expect((await creationsOf({ ...task, pool: "other" }, [pool]))?.wanted).toMatchObject([{ pool: "other" }]);
});

test("what is told of one that is refused is JSON that the books can keep, wherever it is cut", async () => {
  const about = `a${"\u{1F600}".repeat(600)}`;
  for (const type of [about, about.slice(1)]) {
    const found = await creationsOf({ ...task, type });
    expect(found).toMatchObject({ wanted: [], refused: [{ code: "invalid-body" }] });
    expect(JSON.stringify(found?.refused)).not.toMatch(/\\ud[89a-f]/i);
  }
  for (const detail of [about, about.slice(1)])
    expect(JSON.stringify(toRefused({ id: ID, type: "resize" }, { code: "invalid-body", detail }))).not.toMatch(
      /\\ud[89a-f]/i,
    );
});

test.each<[string[], string[] | undefined]>([
  [[], ["own"]],
  [["other"], ["own", "other"]],
  [["*"], undefined],
])("of those of other pools it meets none by its key, but where the setting names them: %j", async (pools, within) => {
  const [wanted] = (await creationsOf(task, pools))?.wanted ?? [];
  expect(wanted).toMatchObject({ id: ID });
  expect(wanted?.within).toEqual(within);
});

test("onConflict without a key is refused, as of anybody", async () => {
  const found = await creationsOf({ ...task, onConflict: "return" });
  expect(found).toMatchObject({ wanted: [], refused: [{ id: ID, code: "invalid-body" }] });
});
