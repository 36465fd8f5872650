import { NonRetryableError } from "@unacked/sdk";
import { describe, expect, it } from "vitest";
import { thrownText } from "../../../services/observer-service/src/error-text.ts";
import {
  badParams,
  fateOf,
  fateOfInterrupted,
  memberEnd,
  timeIsUp,
} from "../../../services/observer-service/src/keeper/tasks/task-end.ts";
import type { StopCause } from "../../../services/observer-service/src/wire/stop-cause.ts";

const limits = {
  failures: 0,
  maxAttempts: undefined,
  retry: { maxAttempts: 3, initialMs: 100, factor: 2, maxMs: 1_000, jitter: 0 },
};
const completed = { outcome: { outcome: "completed" }, word: { output: "1" }, cause: undefined } as const;
const failed = { outcome: { outcome: "failed", error: new TypeError("no") }, word: {}, cause: undefined } as const;
const stopped = (cause: StopCause) => ({ outcome: { outcome: "stopped" }, word: {}, cause }) as const;

describe("the end of a task's attempt", () => {
  it("completes it with its result, also if it was told to end meanwhile, but not without a lease", () => {
    expect(fateOf(completed, limits, 0.5)).toEqual({ kind: "end", fact: { outcome: "completed", output: "1" } });
    expect(fateOf({ ...completed, cause: { kind: "stopped" } }, limits, 0.5)).toMatchObject({
      fact: { outcome: "completed" },
    });
    expect(fateOf({ ...completed, cause: { kind: "lease-lost" } }, limits, 0.5)).toEqual({ kind: "release", isOurs: false });
  });

  it("is tried again after a delay that grows, until its attempts are used up", () => {
    expect(fateOf(failed, limits, 0.5)).toMatchObject({ fact: { outcome: "failed", retryInMs: 100 } });
    expect(fateOf(failed, { ...limits, failures: 1 }, 0.5)).toMatchObject({ fact: { retryInMs: 200 } });
    expect(fateOf(failed, { ...limits, failures: 2 }, 0.5)).toMatchObject({ fact: { retryInMs: null } });
    expect(fateOf(failed, { ...limits, maxAttempts: 1 }, 0.5)).toMatchObject({ fact: { retryInMs: null } });
    expect(fateOf({ ...failed, word: { isFinal: true } }, limits, 0.5)).toMatchObject({ fact: { retryInMs: null } });
  });

  it("is tried again at once where it is to wait for nothing, but not again and again", () => {
    const retry = { maxAttempts: 1_000, initialMs: 0, factor: 10, maxMs: 1_000, jitter: 0.2 };
    const retryInMs = (failures: number) => fateOf(failed, { ...limits, failures, retry }, 0.5);
    expect(retryInMs(2)).toMatchObject({ fact: { retryInMs: 0 } });
    expect(retryInMs(310)).toMatchObject({ fact: { retryInMs: 1_000 } });
  });

  it("has failed when its time was up, also if its slot had to be ended for that", () => {
    const cause: StopCause = { kind: "uncaught", error: timeIsUp(50) };
    expect(fateOf(stopped(cause), limits, 0.5)).toMatchObject({ fact: { error: { name: "TaskTimeoutError" } } });
    expect(fateOfInterrupted(cause, limits, 0.5)).toMatchObject({ fact: { error: { name: "TaskTimeoutError" } } });
  });

  it("says how its slot ended while its time was up, and who did that: another may have blocked it all the time", () => {
    const slotEnd = "its slot ended (SIGKILL): task spin 1 did it: HandlerBlockedError: blocked for 5000 ms";
    const cause: StopCause = { kind: "uncaught", error: timeIsUp(50) };
    expect(fateOfInterrupted(cause, limits, 0.5, slotEnd)).toMatchObject({
      fact: {
        outcome: "failed",
        error: { name: "TaskTimeoutError", message: `${timeIsUp(50).message}; ${slotEnd}` },
        retryInMs: 100,
      },
    });
    expect(fateOfInterrupted(undefined, limits, 0.5, slotEnd)).toEqual({ kind: "again", why: slotEnd });
    const uncaught: StopCause = { kind: "uncaught", error: thrownText(new Error("its own")) };
    expect(fateOfInterrupted(uncaught, limits, 0.5, slotEnd)).toMatchObject({ fact: { error: { message: "its own" } } });
  });

  it("says where it blocked its slot, also if its time was up before that was seen", () => {
    const error = Object.assign(new Error("blocked for 5000 ms"), {
      name: "HandlerBlockedError",
      stack: "HandlerBlockedError: blocked\n    at run (/job.ts:7:26)",
    });
    const late = {
      outcome: { outcome: "failed", error },
      word: {},
      cause: { kind: "uncaught", error: timeIsUp(50) },
    } as const;
    expect(fateOf(late, limits, 0.5)).toMatchObject({
      fact: {
        outcome: "failed",
        error: {
          name: "TaskTimeoutError",
          message: expect.stringMatching(/within 50 ms .*: HandlerBlockedError: blocked for 5000 ms$/),
          stack: expect.stringContaining("job.ts:7:26"),
        },
        retryInMs: 100,
      },
    });
  });

  it("fails for good where what nobody caught says so, and by that, also if its time is up meanwhile", () => {
    const error = new NonRetryableError("no such customer");
    const late = { outcome: { outcome: "failed", error }, word: { isFinal: true } } as const;
    const fact = { outcome: "failed", error: { name: "NonRetryableError", message: error.message }, retryInMs: null };
    for (const told of [thrownText(error), timeIsUp(50)])
      expect(fateOf({ ...late, cause: { kind: "uncaught", error: told } }, limits, 0.5)).toMatchObject({ fact });
    const cause: StopCause = { kind: "uncaught", error: thrownText(error) };
    expect(fateOf({ ...late, word: {}, cause }, limits, 0.5)).toMatchObject({ fact: { retryInMs: 100 } });
    expect(fateOf({ ...late, cause: { kind: "stopped" } }, limits, 0.5)).toMatchObject({ fact: { outcome: "cancelled" } });
  });

  it("fails for good where what nobody caught says so, also where its slot has to be ended, as its handler does not", () => {
    const cause: StopCause = {
      kind: "uncaught",
      error: thrownText(new NonRetryableError("no such customer")),
      isFinal: true,
    };
    expect(fateOfInterrupted(cause, limits, 0.5)).toMatchObject({ fact: { outcome: "failed", retryInMs: null } });
    expect(fateOf(stopped(cause), limits, 0.5)).toMatchObject({ fact: { outcome: "failed", retryInMs: null } });
  });

  it.each([
    [{ kind: "draining" }, { kind: "release", isOurs: true }],
    [{ kind: "lease-lost" }, { kind: "release", isOurs: false }],
    [{ kind: "stopped" }, { kind: "end", fact: { outcome: "cancelled" } }],
    [{ kind: "obsolete" }, { kind: "drop" }],
    [
      { kind: "moved", why: "room" },
      { kind: "again", why: "room" },
    ],
  ] satisfies [StopCause, object][])("follows what it was told: %o", (cause, fate) => {
    expect(fateOf(stopped(cause), limits, 0.5)).toEqual(fate);
  });

  it("begins again when its slot went through no fault of its own, and has crashed when it was alone in it", () => {
    expect(fateOfInterrupted(undefined, limits, 0.5)).toEqual({ kind: "again" });
    const error = Object.assign(new Error("it ended"), { name: "SlotEndedError" });
    expect(fateOf({ ...failed, outcome: { outcome: "failed", error } }, limits, 0.5)).toMatchObject({
      fact: { outcome: "crashed" },
    });
  });

  it.each(["SlotEndedError", "HandlerBlockedError", "MemoryLimitError"])(
    "is in doubt where all of a call ended by %s, unless it was told of before: each begins again, and fails by it only alone",
    (name) => {
      const outcome = { outcome: "failed", error: Object.assign(new Error("alone in its slot"), { name }) } as const;
      const members = new Map([["done", { output: "1" }]]);
      const once = { ...limits, maxAttempts: 1 };
      const fate = (id: string) => fateOf({ ...memberEnd(outcome, { members }, id), cause: undefined }, once, 0.5);
      expect(fate("in doubt")).toEqual({
        kind: "again",
        why: `the call that it was in ended its slot: ${name}: alone in its slot`,
      });
      expect(fate("done")).toMatchObject({ fact: { outcome: "completed", output: "1" } });
      expect(fateOf({ ...failed, outcome }, once, 0.5)).toMatchObject({ kind: "end", fact: { error: { name } } });
    },
  );

  it("has no stack where params do not pass, alone or in a call; what a handler throws has one: by that managers tell them apart", () => {
    const error = { name: "InvalidParams", message: "/width: is not known\n    at width" };
    expect(badParams(error)).toEqual({ kind: "end", fact: { outcome: "failed", error, retryInMs: null } });
    const members = new Map([["refused", { error, isFinal: true }]]);
    const inCall = (id: string) =>
      fateOf({ ...memberEnd({ outcome: "completed" }, { members }, id), cause: undefined }, limits, 0.5);
    expect(inCall("refused")).toEqual(badParams(error));
    const thrown = thrownText(Object.assign(new NonRetryableError("no"), { name: "InvalidParams" }));
    members.set("thrown", { error: thrown, isFinal: true });
    expect(inCall("thrown")).toMatchObject({
      fact: { error: { name: "InvalidParams", stack: expect.stringContaining("at ") } },
    });
  });

  it("has failed where its result did not arrive as JSON", () => {
    expect(fateOf({ ...completed, word: { output: "{" } }, limits, 0.5)).toMatchObject({
      fact: { outcome: "failed", retryInMs: null },
    });
  });

  it("is postponed where its handler says so, unless its time was up, it was cancelled, or its lease is lost", () => {
    const postponement = { inMs: 5, reason: "" };
    const late = { outcome: { outcome: "completed" }, word: { postponement } } as const;
    const fact = { outcome: "postponed", postponement };
    expect(fateOf({ ...late, cause: undefined }, limits, 0.5)).toEqual({ kind: "end", fact });
    expect(fateOf({ ...late, cause: { kind: "draining" } }, limits, 0.5)).toEqual({ kind: "end", fact });
    expect(fateOf({ ...late, cause: { kind: "lease-lost" } }, limits, 0.5)).toEqual({ kind: "release", isOurs: false });
    const stop = { ...late, outcome: { outcome: "stopped" } } as const;
    expect(fateOf({ ...stop, cause: { kind: "stopped" } }, limits, 0.5)).toMatchObject({ fact: { outcome: "cancelled" } });
    const cause: StopCause = { kind: "uncaught", error: timeIsUp(50) };
    expect(fateOf({ ...stop, cause }, limits, 0.5)).toMatchObject({ fact: { outcome: "failed" } });
  });

  it("which it has put off in the moment in which it was told to end is what it was told to end for, and no result that is missing", () => {
    const late = { outcome: { outcome: "completed" }, word: { postponement: { inMs: 5, reason: "" } } } as const;
    expect(fateOf({ ...late, cause: { kind: "stopped" } }, limits, 0.5)).toMatchObject({ fact: { outcome: "cancelled" } });
    const cause: StopCause = { kind: "uncaught", error: timeIsUp(50) };
    const fact = { outcome: "failed", error: { name: "TaskTimeoutError" }, retryInMs: 100 };
    expect(fateOf({ ...late, cause }, limits, 0.5)).toMatchObject({ fact });
  });

  it("says when its emergency handler completed it", () => {
    const word = { output: "1", isEmergency: true };
    expect(fateOf({ ...completed, word }, limits, 0.5)).toMatchObject({ fact: { completedBy: "emergency" } });
    expect(fateOf(completed, limits, 0.5)).not.toHaveProperty("fact.completedBy");
  });
});
