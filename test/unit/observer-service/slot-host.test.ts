import { defineObserver, defineTask, NonRetryableError } from "@unacked/sdk";
import { expect, it, vi } from "vitest";
import { z } from "zod";
import { currentOwner } from "../../../services/observer-service/src/isolation.ts";
import { SlotHost } from "../../../services/observer-service/src/slot/slot-host.ts";
import { FrameWriter } from "../../../services/observer-service/src/wire/frames.ts";
import type { FromSlot } from "../../../services/observer-service/src/wire/messages.ts";
import { SilenceWatch } from "../../../services/observer-service/src/wire/silence-watch.ts";
import { eventually } from "../../support/eventually.ts";
import { fakeIntervals } from "../../support/own-timers.ts";

it("what a handler has thrown is looked at as its run: code of the author's that stands in it is that run's", async () => {
  const lookers: (string | undefined)[] = [];
  const thrown = Object.defineProperty(new Error("x"), "stack", {
    get: () => {
      lookers.push(currentOwner()?.runId);
      return "";
    },
  });
  const type = defineObserver({
    type: "throws",
    params: z.object({}),
    run: async () => {
      throw thrown;
    },
  });
  let written = "";
  const socket = { writable: true, write: (text: string) => (written += text) !== "" };
  const host = new SlotHost({
    ...{ types: new Map([["throws", type]]), tasks: new Map(), watch: new SilenceWatch(), tracing: undefined },
    ...{ wire: new FrameWriter<FromSlot>(socket as never), logLevel: "info", stopTimeoutMs: 1_000, saveEveryMs: 1_000 },
  });
  const who = { observerId: "o", name: "n", type: "throws", labels: {}, params: {} };
  host.take({ kind: "begin", attempt: 1, runId: "run-1", ...who } as never);
  await eventually(() => expect(written).toContain('"settled"'));
  expect(new Set(lookers)).toEqual(new Set(["run-1"]));
});

it("what cannot be looked at without a throw, as proxies have it, fails its own attempt alone", async () => {
  const trap = () => {
    throw new Error("trapped");
  };
  // Asked what it is, it is an error; whether it is final, it throws.
  const thrown = new Proxy(new Error("x"), { has: trap, get: trap });
  const type = defineObserver({
    type: "throws",
    params: z.object({}),
    run: async () => {
      throw thrown;
    },
  });
  let written = "";
  const socket = { writable: true, write: (text: string) => (written += text) !== "" };
  const host = new SlotHost({
    ...{ types: new Map([["throws", type]]), tasks: new Map(), watch: new SilenceWatch(), tracing: undefined },
    ...{ wire: new FrameWriter<FromSlot>(socket as never), logLevel: "silent", stopTimeoutMs: 1_000, saveEveryMs: 1_000 },
  });
  const who = { observerId: "o", name: "n", type: "throws", labels: {}, params: {} };
  host.take({ kind: "begin", attempt: 1, runId: "run-1", ...who } as never);
  await eventually(() => expect(written).toContain('"outcome":"failed"'));
});

it("what listens for the abort of one task of a batch is its call's code, as what listens for that of the whole is", async () => {
  const owners: [string, string | undefined][] = [];
  const heard = (who: string) => () => void owners.push([who, currentOwner()?.runId]);
  let isUnderWay = false;
  const many = defineTask({
    type: "many",
    params: z.object({}),
    batch: { size: 2 },
    runBatch: async (tasks, { signal }) => {
      isUnderWay = true;
      signal.addEventListener("abort", heard("whole"));
      for (const { taskId, signal: own } of tasks) own.addEventListener("abort", heard(taskId));
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      return [];
    },
  });
  const host = new SlotHost({
    ...{ types: new Map(), tasks: new Map([["many", many]]), watch: new SilenceWatch(), tracing: undefined },
    wire: new FrameWriter<FromSlot>({ writable: true, write: () => true } as never),
    ...{ logLevel: "silent", stopTimeoutMs: 1_000, saveEveryMs: 1_000 },
  });
  const who = { observerId: "o", name: "n", type: "many", labels: {}, params: null, taskAttempt: 1 };
  const members = ["a", "b"].map((taskId) => ({ taskId, params: {}, attempt: 1 }));
  host.take({ kind: "begin", attempt: 1, runId: "run-1", ...who, members } as never);
  await eventually(() => expect(isUnderWay).toBe(true));
  host.take({ kind: "abort-member", attempt: 1, taskId: "a", cause: { kind: "stopped" } });
  host.take({ kind: "abort", attempt: 1, cause: { kind: "stopped" } });
  expect(new Map(owners)).toEqual(new Map(["a", "whole", "b"].map((each) => [each, "run-1"])));
});

it("a call for many of a type whose code here takes no batches fails, but not for good", async () => {
  const one = defineTask({ type: "many", params: z.object({}), run: async () => undefined });
  let written = "";
  const host = new SlotHost({
    ...{ types: new Map(), tasks: new Map([["many", one]]), watch: new SilenceWatch(), tracing: undefined },
    wire: new FrameWriter<FromSlot>({ writable: true, write: (text: string) => (written += text) !== "" } as never),
    ...{ logLevel: "silent", stopTimeoutMs: 1_000, saveEveryMs: 1_000 },
  });
  const who = { observerId: "o", name: "n", type: "many", labels: {}, params: null, taskAttempt: 1 };
  const members = [{ taskId: "a", params: {}, attempt: 1 }];
  host.take({ kind: "begin", attempt: 1, runId: "run-1", ...who, members } as never);
  await eventually(() => expect(written).toContain('"settled"'));
  expect(written).toContain("takes no batches");
  expect(written).not.toContain('"isFinal":true');
});

it("a type's schemas are looked at as the run that they are asked for: what they block, and what a check throws later, is no slot's", async () => {
  const lookers: [string, string | undefined][] = [];
  const seen = (what: string) => () => void lookers.push([what, currentOwner()?.runId]);
  const checked = (what: string) =>
    z.unknown().superRefine(() => {
      seen(what)();
      queueMicrotask(seen(`${what}, later`));
    });
  const type = defineObserver({
    type: "checks",
    params: checked("params"),
    checkpoint: checked("checkpoint"),
    onUpdate: () => "applied",
    run: ({ signal }) => new Promise((resolve) => signal.addEventListener("abort", () => resolve())),
  });
  const written: string[] = [];
  const host = new SlotHost({
    ...{ types: new Map([["checks", type]]), tasks: new Map(), watch: new SilenceWatch(), tracing: undefined },
    wire: new FrameWriter<FromSlot>({ writable: true, write: (text: string) => written.push(text) > 0 } as never),
    ...{ logLevel: "silent", stopTimeoutMs: 1_000, saveEveryMs: 1_000 },
  });
  const who = { observerId: "o", name: "n", type: "checks", labels: {}, params: 1, fencingToken: 1, checkpoint: "1" };
  host.take({ kind: "begin", attempt: 1, runId: "run-1", ...who } as never);
  host.take({ kind: "update", attempt: 1, specVersion: 2, silence: undefined, params: { value: 2 } });
  await eventually(() => expect(written.join("")).toContain('"updated"'));
  expect(new Set(lookers.map(([, runId]) => runId))).toEqual(new Set(["run-1"]));
  expect(new Set(lookers.map(([what]) => what)).size).toBe(4);
});

it("what a handler throws again and again, also when it is over, is told once a second, with how often", async () => {
  fakeIntervals();
  let owner: ReturnType<typeof currentOwner>;
  const type = defineObserver({
    type: "throws",
    params: z.object({}),
    run: async ({ signal }) => {
      owner = currentOwner();
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
    },
  });
  let written = "";
  const socket = { writable: true, write: (text: string) => (written += text) !== "" };
  const host = new SlotHost({
    ...{ types: new Map([["throws", type]]), tasks: new Map(), watch: new SilenceWatch(), tracing: undefined },
    ...{ wire: new FrameWriter<FromSlot>(socket as never), logLevel: "warn", stopTimeoutMs: 1_000, saveEveryMs: 1_000 },
  });
  const toldOf = (kind: FromSlot["kind"]) => written.split(`{"kind":"${kind}"`).length - 1;
  const who = { observerId: "o", name: "n", type: "throws", labels: {}, params: {} };
  host.take({ kind: "begin", attempt: 1, runId: "run-1", ...who } as never);
  for (let i = 1; i <= 1_000; i += 1) owner?.uncaught(new Error(`no ${i}`));
  await eventually(() => expect(toldOf("uncaught")).toBe(1));
  expect([toldOf("thrown"), toldOf("log")]).toEqual([1, 1]);
  const cause = { kind: "uncaught", error: { name: "Error", message: "no 1" } } as const;
  host.take({ kind: "abort", attempt: 1, cause });
  await eventually(() => expect(toldOf("settled")).toBe(1));
  for (let i = 1; i <= 1_000; i += 1) owner?.uncaught(new Error(`late ${i}`));
  vi.advanceTimersByTime(5_000);
  await eventually(() => expect(written).toContain('"times":999}'));
  expect(written).toContain("(999 in a second)");
  expect([toldOf("thrown"), toldOf("log"), toldOf("uncaught"), toldOf("late")]).toEqual([2, 2, 1, 2]);
});

it("of a type whose tasks all go on after their ends it is told at once, and then once a second, of the last of them", async () => {
  fakeIntervals();
  const goOn: (() => void)[] = [];
  const type = defineTask({
    type: "forgetful",
    params: z.object({}),
    run: async ({ log }) => {
      goOn.push(() => {
        for (let line = 0; line < 100; line += 1) log.info("still here");
      });
    },
  });
  let written = "";
  const socket = { writable: true, write: (text: string) => (written += text) !== "" };
  const host = new SlotHost({
    ...{ types: new Map(), tasks: new Map([["forgetful", type]]), watch: new SilenceWatch(), tracing: undefined },
    ...{ wire: new FrameWriter<FromSlot>(socket as never), logLevel: "silent", stopTimeoutMs: 1_000, saveEveryMs: 1_000 },
  });
  const who = { name: "n", type: "forgetful", labels: {}, params: {}, taskAttempt: 1 };
  for (let attempt = 1; attempt <= 1_000; attempt += 1)
    host.take({ kind: "begin", attempt, runId: `run-${attempt}`, observerId: `task-${attempt}`, ...who } as never);
  await eventually(() => expect(written.match(/"settled"/g)).toHaveLength(1_000));
  for (const one of goOn) one();
  vi.advanceTimersByTime(5_000);
  await eventually(() => expect(written).toContain('"times":999}'));
  const late = written.split("\n").filter((line) => line.includes('"kind":"late"'));
  const word = (n: number, times: number) => ({ runId: `run-${n}`, task: `task-${n}`, type: "forgetful", times });
  expect(late.map((line) => JSON.parse(line) as unknown)).toMatchObject([word(1, 1), word(1_000, 999)]);
});

it("of what nobody caught it is told whether to try again would help, before its handler has ended", async () => {
  const owners: NonNullable<ReturnType<typeof currentOwner>>[] = [];
  const type = defineTask({
    type: "deaf",
    params: z.object({}),
    run: () => {
      owners.push(currentOwner() as (typeof owners)[0]);
      return new Promise<void>(() => undefined);
    },
  });
  let written = "";
  const socket = { writable: true, write: (text: string) => (written += text) !== "" };
  const host = new SlotHost({
    ...{ types: new Map(), tasks: new Map([["deaf", type]]), watch: new SilenceWatch(), tracing: undefined },
    ...{ wire: new FrameWriter<FromSlot>(socket as never), logLevel: "silent", stopTimeoutMs: 1_000, saveEveryMs: 1_000 },
  });
  const who = { observerId: "o", name: "n", type: "deaf", labels: {}, params: {}, taskAttempt: 1 };
  for (const attempt of [1, 2]) host.take({ kind: "begin", attempt, runId: `run-${attempt}`, ...who } as never);
  await eventually(() => expect(owners).toHaveLength(2));
  owners[0]?.uncaught(new Error("maybe next time"));
  owners[1]?.uncaught(new NonRetryableError("no such customer"));
  await eventually(() => expect(written.match(/"uncaught"/g)).toHaveLength(2));
  expect(written).toMatch(/"uncaught","attempt":2,[^\n]*"isFinal":true/);
  expect(written.match(/"isFinal"/g)).toHaveLength(1);
});

it("what was dropped of one that logs too much is told before its end, after which its keeper would not listen", async () => {
  const type = defineObserver({
    type: "floods",
    params: z.object({}),
    run: async ({ log }) => {
      for (let line = 0; line < 5_000; line += 1) log.info("line");
    },
  });
  let written = "";
  const socket = { writable: true, write: (text: string) => (written += text) !== "" };
  const host = new SlotHost({
    ...{ types: new Map([["floods", type]]), tasks: new Map(), watch: new SilenceWatch(), tracing: undefined },
    ...{ wire: new FrameWriter<FromSlot>(socket as never), logLevel: "info", stopTimeoutMs: 1_000, saveEveryMs: 1_000 },
  });
  const who = { observerId: "o", name: "n", type: "floods", labels: {}, params: {} };
  host.take({ kind: "begin", attempt: 1, runId: "run-1", ...who } as never);
  await eventually(() => expect(written).toContain('"settled"'));
  const frames = written.trim().split("\n");
  const [told, end] = frames.slice(-2).map((line) => JSON.parse(line) as FromSlot);
  expect([told, end]).toMatchObject([{ kind: "lines-dropped", lines: 3_000 }, { kind: "settled" }]);
});

it("what was refused of one that did not await it is told before its end, after which its keeper would not listen", async () => {
  const type = defineObserver({
    type: "hasty",
    params: z.object({}),
    checkpoint: z.number(),
    run: async ({ emit, saveCheckpoint }) => {
      void emit({ big: 1n });
      void saveCheckpoint("one" as never);
    },
  });
  let written = "";
  const socket = { writable: true, write: (text: string) => (written += text) !== "" };
  const host = new SlotHost({
    ...{ types: new Map([["hasty", type]]), tasks: new Map(), watch: new SilenceWatch(), tracing: undefined },
    ...{ wire: new FrameWriter<FromSlot>(socket as never), logLevel: "info", stopTimeoutMs: 1_000, saveEveryMs: 1_000 },
  });
  const who = { observerId: "o", name: "n", type: "hasty", labels: {}, params: {}, fencingToken: 1 };
  host.take({ kind: "begin", attempt: 1, runId: "run-1", ...who } as never);
  await eventually(() => expect(written.match(/"kind":"log"/g)).toHaveLength(2));
  const kinds = written
    .trim()
    .split("\n")
    .map((line) => (JSON.parse(line) as FromSlot).kind);
  expect(kinds).toEqual(["log", "log", "settled"]);
});

it.each([
  ["an error without a text form", () => Object.create(null)],
  [
    "an error whose message cannot be read",
    () =>
      Object.defineProperty(new Error("x"), "message", {
        get: () => {
          throw new Error("no");
        },
      }),
  ],
])("a schema that throws %s refuses its params, and its slot goes on", async (_, made) => {
  const checked = z.unknown().superRefine(() => {
    throw made();
  });
  const type = defineTask({ type: "odd", params: checked, run: async () => undefined });
  const written = begunOf(type);
  await eventually(() => expect(written()).toContain('"kind":"bad-params","attempt":1'));
});

it("params whose problem has no text form are refused, and the slot goes on", async () => {
  const type = defineTask({
    type: "odd",
    params: z.unknown().superRefine((__, context) => context.addIssue({ code: "custom", message: Object.create(null) })),
    run: async () => undefined,
  });
  const written = begunOf(type);
  await eventually(() => expect(written()).toContain('"kind":"bad-params","attempt":1'));
});

it("a task whose handler returns before its keeper has answered that nobody caught an error of it has failed", async () => {
  const type = defineTask({
    type: "careless",
    params: z.object({}),
    run: async () => {
      currentOwner()?.uncaught(new NonRetryableError("no such customer"));
      return { ok: true };
    },
  });
  const written = begunOf(type);
  await eventually(() => expect(written()).toContain('"settled"'));
  expect(written()).toMatch(/"settled","attempt":1,"outcome":"failed",[^\n]*no such customer[^\n]*"isFinal":true/);
});

it("a handler that logs what has no text form has its line, and goes on", async () => {
  const type = defineTask({
    type: "odd",
    params: z.object({}),
    run: async ({ log }) => {
      log.info(Object.create(null));
      return "done";
    },
  });
  const written = begunOf(type);
  await eventually(() => expect(written()).toContain('"settled"'));
  expect(written()).toMatch(/"log",[^\n]*it could not be read/);
  expect(written()).toMatch(/"settled","attempt":1,"outcome":"completed"/);
});

/** Begins one task of the type. @returns what was written of it so far */
function begunOf(type: ReturnType<typeof defineTask>): () => string {
  let written = "";
  const socket = { writable: true, write: (text: string) => (written += text) !== "" };
  const host = new SlotHost({
    ...{ types: new Map(), tasks: new Map([[type.type, type]]), watch: new SilenceWatch(), tracing: undefined },
    ...{ wire: new FrameWriter<FromSlot>(socket as never), logLevel: "silent", stopTimeoutMs: 1_000, saveEveryMs: 1_000 },
  });
  const who = { observerId: "o", name: "n", type: type.type, labels: {}, params: {}, taskAttempt: 1 };
  host.take({ kind: "begin", attempt: 1, runId: "run-1", ...who } as never);
  return () => written;
}
