import { CreateTask, type TaskId } from "@unacked/contracts";
import { expect, test } from "vitest";
import { checkCreations } from "../../../services/observer-manager/src/operations/tasks/creations/creation-check.ts";
import { TypeCheck } from "../../../services/observer-manager/src/operations/types/type-check.ts";

const POOLS = [
  { pool: "default", types: ["ticker"], taskTypes: ["resize"] },
  { pool: "demo", types: ["ws-follow"], taskTypes: ["demo-words"] },
];
const info = (type: string) => ({ type, paramsSchema: {} });
let asked = 0;
const livePools = () => {
  asked += 1;
  return Promise.resolve(POOLS);
};

const THERE = "0199b0a0-0000-7000-8000-000000000001" as TaskId;
const thereAmong = (ids: TaskId[]) => Promise.resolve(ids.filter((id) => id === THERE));

const checkTask = async (task: object) => {
  const liveTypes = () => Promise.resolve({ services: 1, types: [info("resize")], outside: [] });
  const [checked] = await checkCreations({ liveTypes, livePools, thereAmong }, [CreateTask.parse(task)]);
  return checked;
};
const checkObserver = async (type: string) => {
  const liveTypes = () => Promise.resolve({ services: 1, types: [info("ticker") as never], withoutAdmission: [] });
  const request = { name: "o", type, pool: "default", params: {} } as never;
  const [refusal] = await new TypeCheck({ liveTypes, livePools }, () => true).check([request]);
  return refusal;
};
const UNKNOWN = 'No living service of the pool "default" knows the';

test("a task type of another pool is refused with the pools that know it", async () => {
  expect(await checkTask({ type: "demo-words" })).toMatchObject({
    code: "unknown-type",
    knownTypes: ["resize"],
    knownPools: ["demo"],
    detail: `${UNKNOWN} task type "demo-words"; known in pool demo: send pool "demo"`,
  });
});

test("one that is repeated by its id passes, though no service knows its type now; an id that is new does not", async () => {
  expect(await checkTask({ id: THERE, type: "away" })).toMatchObject({ id: THERE, type: "away" });
  const other = THERE.replace(/1$/, "2");
  expect(await checkTask({ id: other, type: "away" })).toMatchObject({ code: "unknown-type" });
});

test("a name that is of the other kind is refused with what creates it", async () => {
  expect(await checkTask({ type: "ws-follow" })).toMatchObject({
    knownPools: [],
    detail: `${UNKNOWN} task type "ws-follow"; it is a type of observers: POST /api/v1/observers, or unacked create`,
  });
  expect(await checkObserver("demo-words")).toMatchObject({
    knownPools: [],
    detail: `${UNKNOWN} type "demo-words"; it is a type of tasks: POST /api/v1/tasks, or unacked run`,
  });
});

test("one that nobody knows is refused as such, and what is known costs no look at all pools", async () => {
  expect(await checkTask({ type: "x" })).toMatchObject({ detail: `${UNKNOWN} task type "x", nor does one of another pool` });
  expect(await checkObserver("x")).toMatchObject({ detail: `${UNKNOWN} type "x", nor does one of another pool` });
  asked = 0;
  expect(await checkTask({ type: "resize" })).toMatchObject({ type: "resize", params: {} });
  expect(await checkObserver("ticker")).toBeNull();
  expect(asked).toBe(0);
});
