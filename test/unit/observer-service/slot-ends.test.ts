import { SlotDeath, type StartTask } from "@unacked/contracts";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { HandledRun } from "../../../services/observer-service/src/keeper/runs/handlers.ts";
import { Blame } from "../../../services/observer-service/src/keeper/slots/blame/blame.ts";
import { HarmfulTypes } from "../../../services/observer-service/src/keeper/slots/blame/harmful-types.ts";
import { AttemptMessages } from "../../../services/observer-service/src/keeper/slots/handlers/attempt-messages.ts";
import { SlotEnds } from "../../../services/observer-service/src/keeper/slots/handlers/slot-ends.ts";
import type { Line, Placed } from "../../../services/observer-service/src/keeper/slots/placement/placed.ts";
import type { SlotEnd } from "../../../services/observer-service/src/keeper/slots/process/slot-process.ts";
import type { Slot } from "../../../services/observer-service/src/keeper/slots/slot.ts";
import { SlotHistory } from "../../../services/observer-service/src/keeper/slots/slot-history.ts";
import { TaskBatch } from "../../../services/observer-service/src/keeper/tasks/task-batch.ts";
import { TaskRun } from "../../../services/observer-service/src/keeper/tasks/task-run.ts";
import { createLog } from "../../../services/observer-service/src/log.ts";

const log = createLog("silent");
const slot = {
  process: { pid: 1, isKilled: true, kill: () => undefined },
  purpose: { kind: "shared" },
  isLoaded: true,
} as unknown as Slot;
const KILLED = { code: null, signal: "SIGKILL" } as const;
const BLOCKED = Object.assign(new Error("blocked"), { name: "HandlerBlockedError" });

/** What each run was told, by name. */
let told: string[];
let blame: Blame;
let harmful: HarmfulTypes;
let history: SlotHistory;
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["performance"] });
  told = [];
  blame = new Blame(log, () => undefined);
  harmful = new HarmfulTypes();
  history = new SlotHistory();
});
afterEach(() => void vi.useRealTimers());

function placed(name: string): Placed {
  const host = {
    onSettled: (_run: HandledRun, { outcome }: { outcome: string }) => told.push(`${name} ${outcome}`),
    onInterrupted: () => told.push(`${name} interrupted`),
    onNotBegun: () => told.push(`${name} not begun`),
  };
  return { run: { runId: name, start: { observerId: name, name }, log }, host, cause: undefined } as unknown as Placed;
}

function lineOf(...members: Placed[]): void {
  const line: Line = { id: 1, left: members };
  for (const one of members) one.line = line;
}

const endsOf = (all: Placed[]): SlotEnds =>
  new SlotEnds({ log, blame, harmful, history, occupants: { in: () => all, removeAll: () => all } });

function end(all: Placed[], culprit?: string): void {
  const ends = endsOf(all);
  if (culprit !== undefined) ends.end(slot, { kind: "culprit", runId: culprit, error: BLOCKED });
  ends.gone(slot, KILLED);
}

test("the culprit fails and the others are interrupted; who stood behind others has not begun, and is told first", () => {
  const [a, b, c] = [placed("a"), placed("b"), placed("c")];
  lineOf(a, b);
  end([a, b, c], "c");
  expect(told).toEqual(["b not begun", "a interrupted", "c failed"]);
  expect(blame.isGuilty("c")).toBe(true);
});

test("a task that is the culprit is told as a task with its type, many in one call without an id: neither has an observer's name", () => {
  const task = { taskId: "0190f6f2-0000-7000-8000-000000000003", type: "resize", failures: 0, params: {} };
  const one = new TaskRun(task as unknown as StartTask, undefined as never, log);
  const many = new TaskBatch("resize", [one, one.successor()], log);
  for (const run of [one, many]) end([{ ...placed("a"), run }], run.runId);
  expect(history.last().map((death) => SlotDeath.parse(death))).toMatchObject([
    { why: "2 tasks of resize did it: HandlerBlockedError: blocked", culpritTask: { type: "resize" } },
    {
      why: `task resize ${task.taskId} did it: HandlerBlockedError: blocked`,
      culpritTask: { id: task.taskId, type: "resize" },
    },
  ]);
  expect(history.last().map(({ culprit }) => culprit)).toEqual([undefined, undefined]);
});

test("a culprit that has settled leaves nobody guilty or suspected, though one alone is left", () => {
  end([placed("b")], "a");
  expect(told).toEqual(["b interrupted"]);
  expect([blame.isGuilty("b"), blame.suspects]).toEqual([false, 0]);
  expect(history.last()[0]?.why).toContain("one that has settled since did it: HandlerBlockedError");
});

test("nor does what a run that has ended has left behind, and what blocks its slot", () => {
  const ends = endsOf([placed("b")]);
  ends.stuck(slot, { kind: "stuck", forMs: 5_000, runId: "a", stack: "Error\n    at left (left.ts:1:1)" } as never);
  ends.gone(slot, KILLED);
  expect(told).toEqual(["b interrupted"]);
  expect([blame.isGuilty("b"), blame.suspects]).toEqual([false, 0]);
});

test.each(["recycled", "dissolved"] as const)(
  "who blocks its slot is the culprit, though that is being emptied: %s",
  (kind) => {
    const ends = endsOf([placed("a"), placed("b")]);
    ends.note(slot, { kind, why: "it is emptied" });
    ends.stuck(slot, { kind: "stuck", forMs: 5_000, runId: "a" } as never);
    ends.gone(slot, KILLED);
    expect(told).toEqual(["a failed", "b interrupted"]);
    expect(blame.isGuilty("a")).toBe(true);
  },
);

test("a culprit is believed to have begun, though the end of the one before it was never read", () => {
  const [a, b, c] = [placed("a"), placed("b"), placed("c")];
  lineOf(a, b, c);
  end([a, b, c], "b");
  expect(told).toEqual(["c not begun", "a interrupted", "b failed"]);
});

test("nobody named: who ran is suspected, and who stood behind is not", () => {
  const [a, b, c] = [placed("a"), placed("b"), placed("c")];
  lineOf(a, b);
  end([a, b, c]);
  expect(["a", "b", "c"].map((one) => blame.isSuspect(one))).toEqual([true, false, true]);
});

/** The slot of these ends itself, for an error that belongs to nobody. */
function endOfUnowned(all: Placed[], of = slot): void {
  const ends = endsOf(all);
  const messages = new AttemptMessages({
    log,
    occupants: { find: () => expect.unreachable() },
    over: () => expect.unreachable(),
    ends: (which, reason) => ends.note(which, reason),
  });
  messages.take(of, { kind: "unattributed", error: { name: "Error", message: "a pool's" } });
  ends.gone(of, { code: 1, signal: null });
}

test("an error of nobody's convicts nobody and makes no suspects, though one was alone in the slot", () => {
  endOfUnowned([placed("a")]);
  endOfUnowned([placed("b"), placed("c")]);
  expect(told).toEqual(["a interrupted", "b interrupted", "c interrupted"]);
  expect([blame.isGuilty("a"), blame.suspects]).toEqual([false, 0]);
  expect(history.last()[0]).toMatchObject({ reason: "other", why: "an error that belongs to no observer: Error: a pool's" });
});

const MUCH_LATER_MS = 6_000;

test("who is there each time that such an error ends a slot is looked for, and is guilty if it was alone in the last", () => {
  endOfUnowned([placed("a"), placed("b"), placed("c")]);
  vi.advanceTimersByTime(MUCH_LATER_MS);
  endOfUnowned([placed("a"), placed("d")]);
  expect(["a", "b", "c", "d"].map((one) => blame.isSuspect(one))).toEqual([true, false, false, false]);
  told = [];
  vi.advanceTimersByTime(MUCH_LATER_MS);
  endOfUnowned([placed("a")]);
  expect(told).toEqual(["a failed"]);
  expect(blame.isGuilty("a")).toBe(true);
});

test("but not who has begun again in a slot that ends at the same time: something from outside may end many", () => {
  endOfUnowned([placed("a"), placed("b")]);
  endOfUnowned([placed("a"), placed("b"), placed("c")]);
  endOfUnowned([placed("a")]);
  expect(new Set(told)).toEqual(new Set(["a interrupted", "b interrupted", "c interrupted"]));
  expect([blame.isGuilty("a"), blame.suspects]).toEqual([false, 0]);
});

test("who is a suspect is looked for and who is guilty fails, however soon it does so again", () => {
  for (const all of [
    ["a", "b", "c"],
    ["a", "b"],
  ]) {
    vi.advanceTimersByTime(MUCH_LATER_MS);
    endOfUnowned(all.map((one) => placed(one)));
  }
  expect(blame.suspects).toBe(2);
  endOfUnowned([placed("a")]);
  told = [];
  for (let i = 0; i < 2; i += 1) {
    vi.advanceTimersByTime(100);
    endOfUnowned([placed("a")]);
  }
  expect(told).toEqual(["a failed", "a failed"]);
  expect(blame.isGuilty("a")).toBe(true);
});

test.each(["spare", "shared"] as const)("nor where it ends slots in which nothing has run, too: %s", (kind) => {
  endOfUnowned([], { ...slot, purpose: { kind } });
  for (let i = 0; i < 3; i += 1) {
    endOfUnowned([placed("a")]);
    vi.advanceTimersByTime(MUCH_LATER_MS);
  }
  expect(told).toEqual(["a interrupted", "a interrupted", "a interrupted"]);
  expect([blame.isGuilty("a"), blame.suspects]).toEqual([false, 0]);
});

test("where something has run in it, that may be what has left it behind", () => {
  endOfUnowned([], { ...slot, hasRun: true });
  endOfUnowned([placed("a")]);
  vi.advanceTimersByTime(MUCH_LATER_MS);
  endOfUnowned([placed("a")]);
  expect(told).toEqual(["a interrupted", "a failed"]);
});

test("what a slot says that its pipe was tampered with is somebody's doing: one alone in it is guilty", () => {
  const broken = { ...slot, lastWord: { name: "SlotWireError", message: "what came is no JSON" } };
  endsOf([placed("a")]).gone(broken, KILLED);
  expect(told).toEqual(["a failed"]);
  expect(blame.isGuilty("a")).toBe(true);
});

/** A file of observers, and no run, blocks the slot of these. @param isUsed whether a run had begun in it */
function endOfBlockingFile(all: Placed[], isUsed = true): void {
  const ends = endsOf(all);
  const file = "/types/loose.ts";
  ends.stuck(slot, { kind: "stuck", forMs: 8_000, file, isUsed, stack: "Error\n    at refill (loose.ts:1:1)" });
  ends.gone(slot, KILLED);
}

test("a file that blocks a slot by itself has nobody suspected, though one was alone in it, and is named", () => {
  endOfBlockingFile([placed("a")]);
  endOfBlockingFile([placed("b"), placed("c")]);
  expect(told).toEqual(["a interrupted", "b interrupted", "c interrupted"]);
  expect([blame.isGuilty("a"), blame.suspects]).toEqual([false, 0]);
  expect(history.last()[0]?.why).toContain("FileBlocksError: /types/loose.ts has blocked");
});

test("who is there each time is looked for: it may be a run that has the file's own timers and sockets do it", () => {
  for (let i = 0; i < 2; i += 1) {
    endOfBlockingFile([placed("a")]);
    vi.advanceTimersByTime(MUCH_LATER_MS);
  }
  expect(told).toEqual(["a interrupted", "a failed"]);
});

test("but where it blocks slots in which no run has begun, nobody is: not who was placed there meanwhile, nor who is guilty of something else", () => {
  blame.convict("a");
  endOfBlockingFile([placed("c"), placed("d")]);
  vi.advanceTimersByTime(MUCH_LATER_MS);
  endOfBlockingFile([placed("c"), placed("d")]);
  expect(blame.suspects).toBe(2);
  endOfBlockingFile([placed("b")], false);
  expect(blame.suspects).toBe(0);
  for (let i = 0; i < 3; i += 1) {
    vi.advanceTimersByTime(MUCH_LATER_MS);
    endOfBlockingFile([placed("a")]);
    endOfBlockingFile([placed("b")]);
  }
  expect(told.filter((one) => !one.endsWith("interrupted"))).toEqual([]);
});

test("nor, while that lasts, who is in a slot that is blocked and cannot be asked by whom", () => {
  endOfBlockingFile([], false);
  const ends = endsOf([placed("a")]);
  ends.stuck(slot, { kind: "stuck", forMs: 8_000 });
  ends.gone(slot, KILLED);
  expect([told, blame.suspects]).toEqual([["a interrupted"], 0]);
});

const CRASHED = { code: null, signal: "SIGSEGV" } as const;
const EXITED = { code: 7, signal: null } as const;

/** The slot of these ends by itself, and says nothing. */
function crash(all: Placed[], how: SlotEnd = CRASHED, of: Partial<Slot> = {}): void {
  const process = { pid: 1, isKilled: false } as Slot["process"];
  endsOf(all).gone({ ...slot, process, hasRun: all.length > 0, ...of }, how);
}

test.each([CRASHED, EXITED])(
  "where slots end by themselves in which nothing has ever run, nobody is to blame: %o",
  (how) => {
    crash([placed("a"), placed("b")]);
    expect(blame.suspects).toBe(2);
    crash([], how);
    expect(blame.suspects).toBe(0);
    told = [];
    crash([placed("a")]);
    crash([placed("b"), placed("c")], how);
    expect(told).toEqual(["a interrupted", "b interrupted", "c interrupted"]);
    expect([blame.isGuilty("a"), blame.suspects]).toEqual([false, 0]);
    expect(history.last()[0]).toMatchObject({ reason: "other", why: expect.stringContaining("nobody is blamed") });
    vi.advanceTimersByTime(600_001);
    crash([placed("a")]);
    expect(told.at(-1)).toBe("a failed");
  },
);

test.each([
  ["something has run in it, that it may have left behind", CRASHED, { hasRun: true }],
  ["it was killed from outside", KILLED, {}],
  ["it had not loaded yet, which is a file's doing, and told so", CRASHED, { isLoaded: false }],
  ["it was not needed any more", CRASHED, { process: { pid: 1, isKilled: true } as Slot["process"] }],
])("but not where %s", (_, how, of) => {
  crash([], how, of);
  crash([placed("a")]);
  expect(told).toEqual(["a failed"]);
});

test("who blocks its slot in a system call, or kills it, is found all the same", () => {
  crash([]);
  end([placed("a"), placed("b")]);
  expect(blame.suspects).toBe(2);
  end([placed("a")]);
  expect(told.at(-1)).toBe("a failed");
});
