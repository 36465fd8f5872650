import type { ErrorText, RunId, SendId, ServiceId, TaskEnded, TaskId } from "@unacked/contracts";
import { describe, expect, it, vi } from "vitest";
import type { TaskNews, TaskWord, TurnedAway } from "../../../services/observer-manager/src/domain/tasks/task-words.ts";
import {
  type AlikeServices,
  inOneOrder,
  refusesParams,
  turnedAway,
  typesOfManyVersions,
} from "../../../services/observer-manager/src/domain/tasks/turned-away.ts";
import { checksOfCall } from "../../../services/observer-manager/src/domain/types/params-check.ts";
import { RefusedParams } from "../../../services/observer-manager/src/operations/tasks/ledger/refused-params.ts";
import type { RefusedParamsStore } from "../../../services/observer-manager/src/operations/tasks/ledger/refused-params-store.ts";

const OLDER = { type: "object", properties: { v: {} }, additionalProperties: false };
const NEWER = { type: "object", properties: { v: {}, width: {} }, additionalProperties: false };
const error: ErrorText = { name: "InvalidParams", message: "/width: is not known" };

const versionOf = (type: string, paramsSchema: Record<string, unknown>) => ({
  type,
  paramsSchema,
  version: inOneOrder(paramsSchema),
});
const services = (name: string, paramsSchema: object, taking = true): AlikeServices => ({
  ids: [name as ServiceId],
  taking: taking ? [name as ServiceId] : [],
  types: [versionOf("work", paramsSchema as Record<string, unknown>)],
});
const older = services("older", OLDER);
const newer = services("newer", NEWER);

const wordOf = (by: string, end: Partial<TaskEnded> = {}): TaskWord => ({
  ...{ taskId: "task" as TaskId, sendId: "send" as SendId, runId: "run" as RunId, pool: "default" },
  ...{ by: { serviceId: by as ServiceId, serviceName: by, generation: 1 }, startedAtMs: 1, told: [], cut: [] },
  ...{ interruption: undefined, returned: undefined },
  end: { kind: "TaskEnded", outcome: "failed", retryInMs: null, error, at: 2, startedAt: 1, ...end } as TaskEnded,
});
const taskOf = (before: TurnedAway | null = null, params: object = { width: 7 }) => ({
  ...{ type: "work", params, paramsHash: JSON.stringify(params), before },
});
const judge = (by: string, all: AlikeServices[], before?: TurnedAway, params?: object) =>
  turnedAway(wordOf(by), taskOf(before, params), all, checksOfCall(), 0.5);

describe("a task whose params a service refuses", () => {
  it("is sent again a second later where another version takes them, and says why it waits", () => {
    const { end, turnedAway: told } = judge("older", [older, newer]);
    expect(end).toMatchObject({ outcome: "unknown-type", retryInMs: 1_000, error: { name: "InvalidParams" } });
    expect(end?.error?.message).toBe(
      'the service "older" does not take these params, another version of the type in its pool does: sent again after 1.0 s; it said: /width: is not known',
    );
    expect(told).toMatchObject({ by: [expect.any(String)], turns: 1 });
  });

  it("waits a half of that more or less, so that many do not come all at once", () => {
    const pause = (random: number) =>
      turnedAway(wordOf("older"), taskOf(), [older, newer], checksOfCall(), random).end?.retryInMs;
    expect([0, 0.25, 0.999].map(pause)).toEqual([500, 750, 1_499]);
  });

  it("waits a second more each time, five at most, for as long as that version lives", () => {
    const pauses: unknown[] = [];
    let before: TurnedAway | undefined;
    for (let turn = 0; turn < 7; turn += 1) {
      const word = judge("older", [older, newer], before);
      pauses.push(word.end?.retryInMs);
      before = word.turnedAway;
    }
    expect(pauses).toEqual([1_000, 2_000, 3_000, 4_000, 5_000, 5_000, 5_000]);
    expect(before).toMatchObject({ turns: 7, by: [expect.any(String)] });
  });

  it.each([
    ["one version lives", [older, services("other", OLDER)]],
    [
      "the same schema is written in another order",
      [older, services("other", { ...Object.fromEntries(Object.entries(OLDER).toReversed()) })],
    ],
    ["the other version has gone, or drains", [older, services("newer", NEWER, false)]],
    [
      "the other version does not take them either",
      [older, services("other", { ...OLDER, properties: { v: {}, height: {} } })],
    ],
    ["nobody knows what it had", [newer]],
    ["it does not have the type by the books", [{ ...older, types: [] }, newer]],
  ])("is as it was told where %s", (_, all) => {
    const word = wordOf("older");
    expect(turnedAway(word, taskOf(), all, checksOfCall(), 0.5)).toBe(word);
  });

  it("is Failed where each version that may take them has refused them: a schema does not say all", () => {
    const first = judge("older", [older, newer]);
    const { end, turnedAway: told } = judge("newer", [older, newer], first.turnedAway);
    expect(told).toBeUndefined();
    expect(end).toMatchObject({ outcome: "failed", retryInMs: null, error: { name: "InvalidParams" } });
    expect(end?.error?.message).toBe(
      "/width: is not known; 2 versions of the type have refused these params, and no other one in the pool takes them",
    );
  });

  it("is Failed where the version that took them goes while it waits, and says so", () => {
    const { end } = judge("older", [older], judge("older", [older, newer]).turnedAway);
    expect(end).toMatchObject({ outcome: "failed", retryInMs: null });
    expect(end?.error?.message).toContain("/width: is not known; the version of the type that took these params has gone");
  });

  it("has a third version to go to, and newer params are tried everywhere again", () => {
    const wide = services("wide", { type: "object" });
    const two = judge("newer", [older, newer, wide], judge("older", [older, newer, wide]).turnedAway);
    expect(two).toMatchObject({ end: { outcome: "unknown-type" }, turnedAway: { turns: 2 } });
    expect(two.turnedAway?.by).toHaveLength(2);
    const others = judge("older", [older, newer], two.turnedAway, { width: 8 });
    expect(others).toMatchObject({ end: { retryInMs: 1_000 }, turnedAway: { turns: 1, by: [expect.any(String)] } });
  });

  it("says it with a text that fits, however long that of the service is", () => {
    const long = wordOf("older", { error: { ...error, message: "\u{1F600}".repeat(8_192) } });
    const word = turnedAway(long, taskOf(), [older, newer], checksOfCall(), 0.5);
    const last = turnedAway(long, taskOf(word.turnedAway), [older], checksOfCall(), 0.5);
    for (const { end } of [word, last]) {
      expect(end?.error?.message.length).toBeLessThanOrEqual(16_384);
      expect(end?.error?.message).not.toMatch(/\p{Surrogate}/u);
    }
    expect(last.end?.error?.message).toContain("has gone from the pool");
  });
});

it("what a handler throws under that name is no refusal, nor what is tried again", () => {
  expect(refusesParams(wordOf("older"))).toBe(true);
  expect(refusesParams(wordOf("older", { error: { ...error, stack: "at run (work.js:1:1)" } }))).toBe(false);
  expect(refusesParams(wordOf("older", { retryInMs: 1_000 }))).toBe(false);
  expect(refusesParams(wordOf("older", { error: { ...error, name: "TypeError" } }))).toBe(false);
  expect(refusesParams(wordOf("older", { outcome: "completed" }))).toBe(false);
});

it("finds the types of which there are two versions", () => {
  const both = { ...newer, types: [...newer.types, versionOf("other", {})] };
  expect(typesOfManyVersions([older, both])).toEqual(["work"]);
  expect(typesOfManyVersions([older, older])).toEqual([]);
});

describe("news", () => {
  const newsWith = (words: TaskWord[], workers: object[] = []): TaskNews =>
    ({ words, workers, seen: [], inventories: [], running: [], seqs: new Map() }) as unknown as TaskNews;
  const refusedBy = (store: RefusedParamsStore) => new RefusedParams(store, (text) => text);
  const storeWith = (all: AlikeServices[]) => ({
    services: vi.fn(async () => all),
    tasks: vi.fn(async (sends: { sendId: SendId }[]) => sends.map(({ sendId }) => ({ ...taskOf(), sendId }))),
  });

  it("in which nobody has refused params cost nothing", async () => {
    const store = storeWith([older, newer]);
    const news = newsWith([wordOf("older", { outcome: "completed" })]);
    expect(await refusedBy(store).turnedAway(news)).toBe(news);
    expect(store.services).not.toHaveBeenCalled();
  });

  it("of a pool with one version of each type cost one look, and stay as they are", async () => {
    const store = storeWith([older]);
    const news = newsWith([wordOf("older")]);
    expect((await refusedBy(store).turnedAway(news)).words).toEqual(news.words);
    expect(store.tasks).not.toHaveBeenCalled();
  });

  it("go by what services say of themselves beside it, rather than by the books", async () => {
    const said = { serviceId: "newer", pool: "default", workers: 2, draining: false, types: newer.types };
    const turn = async (all: AlikeServices[], workers: object[]) =>
      (await refusedBy(storeWith(all)).turnedAway(newsWith([wordOf("older")], workers))).words[0]?.end?.outcome;
    expect(await turn([older], [said])).toBe("unknown-type");
    expect(await turn([older, newer], [{ ...said, draining: true }])).toBe("failed");
    expect(await turn([older], [{ ...said, pool: "another" }])).toBe("failed");
  });

  it("leave alone what is not the current send, and look at many in portions", async () => {
    const store = storeWith([older, newer]);
    store.tasks.mockImplementation(async (sends) => sends.slice(1).map(({ sendId }) => ({ ...taskOf(), sendId })));
    const words = Array.from({ length: 120 }, (_, n) => ({ ...wordOf("older"), sendId: `${n}` as SendId }));
    const after = (await refusedBy(store).turnedAway(newsWith(words))).words;
    expect(store.tasks).toHaveBeenCalledTimes(3);
    expect(after.map(({ sendId }) => sendId)).toEqual(words.map(({ sendId }) => sendId));
    expect(after.filter(({ end }) => end?.outcome === "failed").map(({ sendId }) => sendId)).toEqual(["0", "50", "100"]);
  });
});
