import { RetryPolicy } from "@unacked/contracts";
import { describe, expect, test } from "vitest";
import {
  NEW_RUN,
  type RunEffect,
  type RunInput,
  type RunState,
  stepRun,
} from "../../../services/observer-service/src/keeper/runs/run-machine.ts";
import type { StopCause } from "../../../services/observer-service/src/wire/stop-cause.ts";

const policy = RetryPolicy.parse({ maxAttempts: 2, delaysMs: [100], resetAfterMs: 5_000 });
const error = { name: "Error", message: "no" };
const failed: RunInput = { kind: "settled", how: { kind: "failed", error }, random: 0.5 };
const completed: RunInput = { kind: "settled", how: { kind: "completed" }, random: 0.5 };
/** After its signal had aborted. */
const stopped: RunInput = { kind: "settled", how: { kind: "stopped" }, random: 0.5 };
const turn: RunInput = { kind: "turn" };
const moved: RunInput = { kind: "stop", cause: { kind: "moved", why: "its slot took too much" } };
const stop = (kind: Exclude<StopCause["kind"], "uncaught" | "moved">): RunInput => ({ kind: "stop", cause: { kind } });
const uncaught: RunInput = { kind: "stop", cause: { kind: "uncaught", error } };

/** Feeds the inputs one after the other; the effects of the last one, and the state after it. */
function live(...inputs: RunInput[]): { state: RunState; effects: RunEffect[]; all: RunEffect[] } {
  let state = NEW_RUN;
  let effects: RunEffect[] = [];
  const all: RunEffect[] = [];
  for (const input of inputs) {
    ({ state, effects } = stepRun(state, input, policy));
    all.push(...effects);
  }
  return { state, effects, all };
}

const endOf = (effects: RunEffect[]) =>
  effects.flatMap((effect) => (effect.kind === "end" ? [{ ...effect.fact, settlement: effect.settlement }] : []));

describe("a run whose handler goes with its slot", () => {
  const interrupted: RunInput = { kind: "interrupted", why: "its slot ended (SIGKILL)" };

  test("leaves its message and its failures to a new run, and counts none for it", () => {
    expect(live(turn, interrupted).effects).toEqual([
      { kind: "restart", failures: 0, interruption: "its slot ended (SIGKILL)" },
    ]);
    expect(live(turn, failed, { kind: "retry-due" }, interrupted).effects).toEqual([
      { kind: "restart", failures: 1, interruption: "its slot ended (SIGKILL)" },
    ]);
    const successor = stepRun({ phase: "waiting", failures: 1 }, turn, policy);
    expect(successor.effects[0]).toEqual({ kind: "tell", fact: { kind: "RunStarted", attempt: 2 } });
    const second = stepRun(successor.state, failed, policy);
    expect(second.effects).toMatchObject([{ kind: "report", reason: "retries-used-up" }]);
  });
  test("whose slot alone has stopped it begins again, and has not completed", () => {
    const interruption = expect.stringContaining("its slot regarded the lease as over");
    expect(live(turn, stopped).effects).toEqual([{ kind: "restart", failures: 0, interruption }]);
    expect(endOf(live(turn, stop("stopped"), stopped).effects)).toEqual([
      { kind: "RunStopped", reason: "stopped", settlement: "ack" },
    ]);
  });
  test("that is told to move does so when its handler has settled, and a stop is stronger", () => {
    const restart = { kind: "restart", failures: 1, interruption: "its slot took too much" };
    expect(live(turn, failed, { kind: "retry-due" }, moved, stopped).effects).toEqual([restart]);
    expect(live(turn, failed, { kind: "retry-due" }, moved, interrupted).effects).toEqual([restart]);
    expect(live(turn, failed, moved).effects).toEqual([]); // no handler runs
    expect(endOf(live(turn, moved, stop("stopped"), completed).effects)).toEqual([
      { kind: "RunStopped", reason: "stopped", settlement: "ack" },
    ]);
  });
  test("ends as it was told to, where it was", () => {
    expect(endOf(live(turn, stop("stopped"), interrupted).effects)).toEqual([
      { kind: "RunStopped", reason: "stopped", settlement: "ack" },
    ]);
    expect(endOf(live(turn, stop("lease-lost"), interrupted).effects)).toEqual([
      { kind: "RunReleased", reason: "lease-lost", settlement: "leave" },
    ]);
  });
  test("fails that attempt, where its own error has ended it", () => {
    expect(live(turn, uncaught, interrupted).effects[0]).toMatchObject({ kind: "tell", fact: { kind: "RunRetrying" } });
  });
  test("fails for good where its slot says that its params do not pass", () => {
    expect(live(turn, { kind: "bad-params", error }).effects).toEqual([
      { kind: "report", reason: "bad-params", fact: { kind: "RunFailed", attempts: 0, error } },
    ]);
  });
});

describe("a run that nobody stops", () => {
  test("tells its start, then starts its handler", () => {
    expect(live(turn).effects).toEqual([
      { kind: "tell", fact: { kind: "RunStarted", attempt: 1 } },
      { kind: "start-handler" },
    ]);
  });
  test("completes when its handler returns, and its message is acked", () => {
    expect(endOf(live(turn, completed).effects)).toEqual([{ kind: "RunCompleted", settlement: "ack" }]);
  });
  test("waits after a failed attempt, then starts the second one and watches its health", () => {
    expect(live(turn, failed).effects).toEqual([
      { kind: "tell", fact: { kind: "RunRetrying", attempt: 1, error, delayMs: 100 } },
      { kind: "wait-to-retry", delayMs: 100 },
    ]);
    expect(live(turn, failed, { kind: "retry-due" }).effects).toEqual([
      { kind: "tell", fact: { kind: "RunStarted", attempt: 2 } },
      { kind: "start-handler" },
      { kind: "watch-health", afterMs: 5_000 },
    ]);
  });
  test("reports before it says that it failed, when its attempts are used up", () => {
    const inputs = [turn, failed, { kind: "retry-due" }, failed] as const;
    expect(live(...inputs).effects).toEqual([
      { kind: "report", reason: "retries-used-up", fact: { kind: "RunFailed", attempts: 2, error } },
    ]);
    expect(endOf(live(...inputs, { kind: "reported" }).effects)).toEqual([
      { kind: "RunFailed", attempts: 2, error, settlement: "ack" },
    ]);
  });
  test("gets its attempts back when it was well for long enough", () => {
    const well = live(turn, failed, { kind: "retry-due" }, { kind: "well" });
    expect(well.effects).toEqual([{ kind: "tell", fact: { kind: "RunStarted", attempt: 1 } }]);
    expect(stepRun(well.state, failed, policy).state).toEqual({ phase: "backing-off", failures: 1 });
  });
  test("that waits for a slot of its own before it begins says so, and begins when it has one", () => {
    const why = "no slot is free";
    expect(live({ kind: "no-room", why })).toMatchObject({
      state: { phase: "waiting", failures: 0 },
      effects: [{ kind: "tell", fact: { kind: "RunRetrying", error: { name: "NoSlotError", message: why }, delayMs: 0 } }],
    });
    expect(live({ kind: "no-room", why }, turn).effects).toContainEqual({ kind: "start-handler" });
  });
  test("that was admitted, and waits for a slot of its own, says so likewise", () => {
    const why = "no slot is free";
    const asked = stepRun({ phase: "waiting", failures: 2 }, { kind: "ask" }, policy).state;
    const waits = stepRun(asked, { kind: "no-room", why }, policy);
    const error = { name: "NoSlotError", message: why };
    expect(waits).toEqual({
      state: { phase: "requested", failures: 2 },
      effects: [{ kind: "tell", fact: { kind: "RunRetrying", attempt: 2, error, delayMs: 0 } }],
    });
    expect(stepRun(waits.state, { kind: "admitted" }, policy).effects).toContainEqual({ kind: "start-handler" });
  });
  test("with bad params fails for good without a start", () => {
    const inputs = [{ kind: "bad-params", error }, { kind: "reported" }] as const;
    expect(live(...inputs).all.map((effect) => effect.kind)).toEqual(["report", "end"]);
    expect(endOf(live(...inputs).all)).toEqual([{ kind: "RunFailed", attempts: 0, error, settlement: "ack" }]);
  });
});

describe("a run that is told to end", () => {
  test.each([
    ["stopped", { kind: "RunStopped", reason: "stopped", settlement: "ack" }],
    ["obsolete", { kind: "RunStopped", reason: "obsolete", settlement: "ack" }],
    ["duplicate", { kind: "RunStopped", reason: "duplicate", settlement: "ack" }],
    ["not-wanted", { kind: "RunStopped", reason: "not-wanted", settlement: "ack" }],
    ["draining", { kind: "RunReleased", reason: "draining", settlement: "requeue" }],
    ["type-gone", { kind: "RunReleased", reason: "draining", typeGone: true, settlement: "requeue" }],
    ["lease-lost", { kind: "RunReleased", reason: "lease-lost", settlement: "leave" }],
  ] as const)("as %s ends only when its handler has settled, however that was", (cause, end) => {
    expect(live(turn, stop(cause)).effects).toEqual([{ kind: "abort-handler", cause: { kind: cause } }]);
    for (const how of [stopped, failed]) expect(endOf(live(turn, stop(cause), how).effects)).toEqual([end]);
    expect(endOf(live(turn, failed, stop(cause)).effects)).toEqual([end]);
  });
  test.each<StopCause>([
    { kind: "draining" },
    { kind: "shed" },
    { kind: "type-gone" },
    { kind: "moved", why: "its slot took too much" },
    { kind: "restarted", why: "its code was loaded again" },
  ])("as $kind has completed where its handler had returned before it heard of that", (cause) => {
    expect(endOf(live(turn, { kind: "stop", cause }, completed).effects)).toEqual([
      { kind: "RunCompleted", settlement: "ack" },
    ]);
  });
  test.each(["stopped", "obsolete", "duplicate", "not-wanted", "lease-lost"] as const)(
    "as %s has not completed, whatever its handler did",
    (cause) => expect(endOf(live(turn, stop(cause), completed).effects)).not.toMatchObject([{ kind: "RunCompleted" }]),
  );
  test("as restarted by a person begins again, also where its handler had returned before it heard of that", () => {
    expect(live(turn, stop("restarted"), completed).effects).toEqual([{ kind: "restart", failures: 0 }]);
  });
  test("as restarted leaves its message to a new run", () => {
    expect(live(turn, stop("restarted"), failed).effects).toEqual([{ kind: "restart", failures: 0 }]);
    expect(live(turn, failed, stop("restarted")).effects).toEqual([{ kind: "restart", failures: 0 }]);
    expect(live(stop("restarted")).effects).toEqual([{ kind: "restart", failures: 0 }]);
    expect(live({ kind: "ask" }, stop("restarted")).effects).toEqual([{ kind: "restart", failures: 0 }]);
  });
  test("before its turn waits for it, so that its end is not told while an older run of the observer still acts", () => {
    expect(live(stop("stopped")).effects).toEqual([]);
    expect(endOf(live(stop("stopped"), turn).effects)).toEqual([
      { kind: "RunStopped", reason: "stopped", settlement: "ack" },
    ]);
  });
  test("before its turn is let go at once by a drain or a lost lease", () => {
    expect(endOf(live(stop("draining")).effects)).toMatchObject([{ settlement: "requeue" }]);
    expect(endOf(live(stop("lease-lost")).effects)).toMatchObject([{ settlement: "leave" }]);
    expect(endOf(live(stop("stopped"), stop("lease-lost")).effects)).toMatchObject([{ settlement: "leave" }]);
  });
  test("by a lost lease is never acked, whatever it was told before", () => {
    for (const before of ["stopped", "restarted", "draining"] as const) {
      expect(endOf(live(turn, stop(before), stop("lease-lost"), completed).effects)).toMatchObject([
        { kind: "RunReleased", settlement: "leave" },
      ]);
    }
    const reporting = [turn, failed, { kind: "retry-due" }, failed, stop("lease-lost")] as const;
    expect(endOf(live(...reporting).effects)).toMatchObject([{ kind: "RunReleased", settlement: "leave" }]);
  });
  const reporting = [turn, failed, { kind: "retry-due" }, failed] as const;
  const released = { kind: "RunReleased", reason: "draining", settlement: "requeue" };
  test("while the report of its failure is not confirmed ends at once, with that failure", () => {
    for (const cause of ["stopped", "obsolete", "duplicate", "not-wanted"] as const)
      expect(endOf(live(...reporting, stop(cause)).effects)).toEqual([
        { kind: "RunFailed", attempts: 2, error, settlement: "ack" },
      ]);
    for (const cause of ["restarted", "shed", "type-gone"] as const)
      expect(live(...reporting, stop(cause))).toMatchObject({ state: { phase: "reporting" }, effects: [] });
  });
  test("by a drain while the broker takes its report fails as it would have; else it is given back after a while", () => {
    const drained = [...reporting, stop("draining")] as const;
    expect(live(...drained).effects).toEqual([{ kind: "limit-report", limitMs: 3_000 }]);
    expect(live(...drained, stop("draining")).effects).toEqual([]);
    expect(endOf(live(...drained, stop("shed"), { kind: "reported" }).effects)).toEqual([
      { kind: "RunFailed", attempts: 2, error, settlement: "ack" },
    ]);
    expect(endOf(live(...drained, { kind: "not-reported" }).effects)).toEqual([released]);
    expect(endOf(live(...drained, stop("stopped")).effects)).toMatchObject([{ kind: "RunFailed", settlement: "ack" }]);
  });
  test("as unknown, once it has failed for good, is reported as that: the books record such a one again", () => {
    const unknown = { kind: "RunStopped", reason: "unknown" } as const;
    const anew = live(...reporting, stop("unknown"));
    expect(anew.effects).toEqual([{ kind: "report", reason: "unknown-observer", fact: unknown }]);
    expect(live(...reporting, stop("unknown"), stop("unknown")).effects).toEqual([]);
    expect(endOf(live(...reporting, stop("unknown"), { kind: "reported" }).effects)).toEqual([
      { ...unknown, settlement: "ack" },
    ]);
    // Given back in a moment, it is told so again elsewhere.
    expect(live(...reporting, stop("draining"), stop("unknown")).effects).toEqual([]);
  });
  test("as unknown is not acked before it is reported, as nobody else has its message; a drain gives it back", () => {
    const unknown = [turn, stop("unknown"), stopped] as const;
    expect(live(...unknown, stop("stopped"))).toMatchObject({ state: { phase: "reporting" }, effects: [] });
    expect(endOf(live(...unknown, stop("draining"), { kind: "not-reported" }).effects)).toEqual([released]);
  });
  test("by a lost lease tells its handler of that, whatever it was told before: what it emits ends with the lease", () => {
    const abort = { kind: "abort-handler", cause: { kind: "lease-lost" } };
    expect(live(turn, stop("stopped"), stop("lease-lost")).effects).toEqual([abort]);
  });
  test("follows the stronger cause: a stop outdoes a drain, a drain a restart, and the first of two stops stays", () => {
    expect(endOf(live(turn, stop("draining"), stop("stopped"), completed).effects)).toMatchObject([{ kind: "RunStopped" }]);
    expect(endOf(live(turn, stop("restarted"), stop("draining"), stopped).effects)).toMatchObject([{ kind: "RunReleased" }]);
    expect(endOf(live(turn, stop("stopped"), stop("obsolete"), completed).effects)).toMatchObject([{ reason: "stopped" }]);
    expect(endOf(live(turn, stop("stopped"), stop("restarted"), completed).effects)).toMatchObject([{ reason: "stopped" }]);
  });
  test("has not completed where somebody wanted it to begin again, or its own error was to be told, whatever came then", () => {
    expect(endOf(live(turn, stop("restarted"), stop("draining"), completed).effects)).toMatchObject([
      { kind: "RunReleased" },
    ]);
    expect(live(turn, uncaught, moved, completed).effects).toMatchObject([{ kind: "restart" }]);
    const newerCode = { kind: "stop", cause: { kind: "restarted", why: "its code is newer" } } as const;
    expect(live(turn, newerCode, stop("restarted"), completed).effects).toMatchObject([{ kind: "restart" }]);
    expect(endOf(live(turn, newerCode, stop("draining"), completed).effects)).toMatchObject([{ kind: "RunCompleted" }]);
  });
  test("ignores everything once it is over", () => {
    for (const late of [
      turn,
      failed,
      stop("stopped"),
      stop("lease-lost"),
      { kind: "retry-due" },
      { kind: "well" },
      { kind: "reported" },
    ] as const) {
      expect(live(turn, completed, late)).toMatchObject({ state: { phase: "over" }, effects: [] });
    }
  });
});

describe("an error that nobody caught", () => {
  test("ends the attempt, which is retried once the handler has settled", () => {
    expect(live(turn, uncaught).effects).toMatchObject([{ kind: "abort-handler" }]);
    expect(live(turn, uncaught, completed).state).toEqual({ phase: "backing-off", failures: 1 });
  });
  test("counts as one failed attempt, however many follow it", () => {
    expect(live(turn, uncaught, uncaught, failed).state).toEqual({ phase: "backing-off", failures: 1 });
  });
  test("is shown as a retry when the handler does not settle, since it cannot be started again", () => {
    expect(live(turn, uncaught, { kind: "stuck" }).effects).toMatchObject([
      { kind: "tell", fact: { kind: "RunRetrying", attempt: 1 } },
    ]);
    expect(live(turn, stop("stopped"), { kind: "stuck" }).effects).toEqual([]);
  });
});
