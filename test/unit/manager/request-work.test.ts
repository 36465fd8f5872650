import { CreateTask, newUuid, type TimerId } from "@unacked/contracts";
import { expect, test } from "vitest";
import type { RequestUser } from "../../../services/observer-manager/src/domain/requests/request-users.ts";
import type { AdmittedRequest, Wanted } from "../../../services/observer-manager/src/operations/requests/request.ts";
import type {
  TaskDecision,
  TimerCancelDecision,
} from "../../../services/observer-manager/src/operations/requests/request-store.ts";
import { RequestWork } from "../../../services/observer-manager/src/operations/requests/request-work.ts";

const FULL: RequestUser = { role: "operator", types: ["*"], pools: ["*"], timers: ["*"], perMinute: 60 };
const LIVE = [
  { pool: "default", types: [], taskTypes: ["resize", "payroll"] },
  { pool: "gpu", types: ["watch"], taskTypes: ["render"] },
  { pool: "secret", types: ["spy"], taskTypes: ["render", "payroll"] },
];

/** What these requests are answered: the problems. */
async function problemsOf(...requests: [RequestUser, Wanted][]): Promise<object[]> {
  const types = {
    liveTypes: async (pool: string) => ({
      services: 1,
      types: (LIVE.find((one) => one.pool === pool)?.taskTypes ?? []).map((type) => ({ type, paramsSchema: {} })),
      outside: [],
    }),
    livePools: async () => LIVE,
    thereAmong: async () => [],
  };
  const store = {
    createTasks: async (decisions: TaskDecision[]) => decisions.map((one) => one.answer([])),
    // Each came back just now.
    cancelTimers: async (decisions: TimerCancelDecision[]) =>
      decisions.map(({ items, answer }) =>
        answer(items.map(({ id }) => ({ kind: "found", timer: { id, name: "n", status: "Waiting" } as never }))),
      ),
  };
  const work = new RequestWork({ store, types, wake() {}, wakeTimers() {}, tally: { decided() {} } } as never);
  const admitted = requests.map(
    ([user, wanted]): AdmittedRequest => ({
      ...wanted,
      name: "shop",
      user,
      messageId: "m",
      replyKey: "shop.r",
      digest: "d",
    }),
  );
  return ((await work.do(admitted)) ?? []).flatMap((json) =>
    JSON.parse(json).results.map(({ problem }: { problem: object }) => problem),
  );
}

const creating = (type: string, pool = "default"): Wanted => ({ kind: "tasks", wanted: [CreateTask.parse({ type, pool })] });

test("Of pools and types that a user may not have it is told nothing where nobody knows its type", async () => {
  const limited = { ...FULL, types: ["resize", "render", "spy"], pools: ["default", "gpu"] };
  const [all, own, none] = await problemsOf(
    [FULL, creating("render")],
    [limited, creating("render")],
    [limited, creating("spy")],
  );
  expect(all).toMatchObject({ knownPools: ["gpu", "secret"], knownTypes: ["payroll", "resize"] });
  const detail = 'No living service of the pool "default" knows the task type';
  expect(own).toMatchObject({ detail: `${detail} "render"; known in pool gpu: send pool "gpu"`, knownPools: ["gpu"] });
  expect(own).toMatchObject({ knownTypes: ["resize"] });
  expect(none).toMatchObject({ detail: `${detail} "spy", nor does one of another pool that you may have`, knownPools: [] });
});

test("A user of all pools is told of them, and of its own types alone", async () => {
  const [own] = await problemsOf([{ ...FULL, types: ["render"] }, creating("render")]);
  expect(own).toMatchObject({ knownPools: ["gpu", "secret"], knownTypes: [] });
});

test("A cancel that met what came back just now says how to ask again: to its message-id the answer stays", async () => {
  const wanted: Wanted = { kind: "timer-cancels", wanted: [{ id: newUuid() as TimerId }] };
  const [problem] = await problemsOf([FULL, wanted]);
  expect(problem).toMatchObject({ code: "already-fired", detail: expect.stringContaining("under another message-id") });
});

test("Of ten thousand tasks of one mistyped type it is looked for once what there is in its place", async () => {
  const limited = { ...FULL, types: ["resize"], pools: ["default", "gpu"] };
  let reads = 0;
  const watched = { pool: "gpu", types: [], taskTypes: ["render"] };
  Object.defineProperty(watched, "taskTypes", {
    get: () => {
      reads += 1;
      return ["render"];
    },
  });
  const wanted = Array.from({ length: 10_000 }, () => CreateTask.parse({ type: "rezise", pool: "default" }));
  LIVE.push(watched);
  try {
    const problems = await problemsOf([
      { ...limited, types: ["resize", "rezise"] },
      { kind: "tasks", wanted },
    ]);
    expect(problems).toHaveLength(10_000);
    expect(new Set(problems.map((one) => JSON.stringify(one))).size).toBe(1);
  } finally {
    LIVE.pop();
  }
  expect(reads).toBeLessThan(50);
});
