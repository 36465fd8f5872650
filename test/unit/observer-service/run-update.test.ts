import {
  type AdmittedSpec,
  DEFAULT_RETRY,
  newMessageId,
  newObserverId,
  newRunId,
  type RunId,
  type RunUpdated,
  type ServiceEvent,
  type StartObserver,
  type UpdateRuns,
} from "@unacked/contracts";
import { defineObserver, type UpdateAnswer } from "@unacked/sdk";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { ControlIntake } from "../../../services/observer-service/src/keeper/control/control-intake.ts";
import { Tombstones } from "../../../services/observer-service/src/keeper/intake/tombstones.ts";
import type { LiveRun } from "../../../services/observer-service/src/keeper/runs/live-run.ts";
import { Runner } from "../../../services/observer-service/src/keeper/runs/runner.ts";
import { createLog } from "../../../services/observer-service/src/log.ts";
import { eventually } from "../../support/eventually.ts";
import { localHandlers } from "../../support/slots/local-handlers.ts";

type Onward = (answer: UpdateAnswer | Error) => void;

/** A service's inner parts with no broker and no slots, and one run whose type takes changes. */
async function running({ takes = true, retry = DEFAULT_RETRY, limitMs = 60_000 } = {}) {
  const told: ServiceEvent[] = [];
  const asked: { word: string; answer: Onward }[] = [];
  const begun: { word: string; fencingToken: number; params: () => string; fail: (error: Error) => void }[] = [];
  let held = true;
  const definition = defineObserver({
    type: "takes",
    start: "admitted",
    params: z.strictObject({ word: z.string().refine((word) => word !== "forbidden", "is forbidden") }),
    ...(takes && {
      onUpdate: ({ word }: { word: string }) =>
        new Promise<UpdateAnswer>((resolve, reject) => {
          const answer: Onward = (one) => (one instanceof Error ? reject(one) : resolve(one));
          asked.push({ word, answer });
        }),
    }),
    run: (ctx) =>
      new Promise((resolve, reject) => {
        begun.push({ word: ctx.params.word, fencingToken: ctx.fencingToken, params: () => ctx.params.word, fail: reject });
        ctx.signal.addEventListener("abort", () => resolve());
      }),
  });
  const log = createLog("silent");
  const shared = {
    events: { tell: (event: ServiceEvent) => void told.push(event) },
    errors: { report: () => Promise.resolve() },
    holds: () => held,
    log,
  };
  const handlers = localHandlers(definition);
  const runner = new Runner({
    ...shared,
    handlers,
    output: () => Promise.resolve(),
    stopTimeoutMs: 1_000,
    tailBytes: 8_192,
    updateTimeoutMs: limitMs,
  });
  const intake = new ControlIntake({ ...shared, runner, tombstones: new Tombstones() } as never);
  const start: StartObserver = {
    observerId: newObserverId(),
    revision: 1,
    messageId: newMessageId(),
    name: "one",
    type: "takes",
    params: { word: "v1" },
    labels: {},
    retry,
    pool: "default",
    specVersion: 1,
    createdAt: new Date().toISOString(),
  };
  const delivery = { generation: 1, deliveryCount: 0, settle: () => true, queue: "q" };
  runner.accept({ start, delivery: delivery as never, isAdmitted: true });
  const order = (message: object) => intake.take({ generation: 1, body: Buffer.from(JSON.stringify(message)) } as never);
  const { observerId, messageId } = start;
  const run = () => runner.runs.ofObserver(observerId)[0] as LiveRun;
  const update = (specVersion: number, spec: Partial<AdmittedSpec> = {}, runId: RunId = run().runId): void => {
    const whole = { params: { word: `v${specVersion}` }, labels: {}, retry, ...spec, specVersion };
    order({
      kind: "UpdateRuns",
      targets: [{ observerId, runId, messageId, revision: 1, spec: whole }],
    } satisfies UpdateRuns);
  };
  await eventually(() => expect(told.map(({ kind }) => kind)).toContain("RunRequested"));
  const spec = { params: { word: "v1" }, labels: {}, retry, specVersion: 1 };
  order({ kind: "Admit", targets: [{ observerId, runId: run().runId, messageId, revision: 1, fencingToken: 5_000, spec }] });
  await eventually(() => expect(begun).toHaveLength(1));
  return {
    told,
    asked,
    begun,
    runner,
    run,
    update,
    loseLease: () => (held = false),
    answers: () =>
      told.flatMap((event) => (event.kind === "RunUpdated" ? [[event.specVersion, event.outcome] as const] : [])),
    last: () => told.findLast((event): event is RunUpdated => event.kind === "RunUpdated"),
    untilAsked: (times: number) => eventually(() => expect(asked).toHaveLength(times)),
    untilBegun: (words: string[]) => eventually(() => expect(begun.map(({ word }) => word)).toEqual(words)),
  };
}

type One = Awaited<ReturnType<typeof running>>;
const untilAnswered = (one: One, answers: (readonly [number, RunUpdated["outcome"]])[]) =>
  eventually(() => expect(one.answers()).toEqual(answers));

describe("a run that is told what is wanted of it", () => {
  test("goes on with it, where its handler takes it: ctx.params are these from then on", async () => {
    const one = await running();
    one.update(2);
    await one.untilAsked(1);
    expect([one.asked[0]?.word, one.begun[0]?.params()]).toEqual(["v2", "v1"]);
    one.asked[0]?.answer("applied");
    await untilAnswered(one, [[2, "applied"]]);
    expect([one.begun.length, one.begun[0]?.params(), one.run().start.specVersion]).toEqual([1, "v2", 2]);
  });

  test("told the same twice, or something stale, answers by what it runs with and asks nobody", async () => {
    const one = await running();
    one.update(3);
    one.update(3);
    one.update(2);
    await one.untilAsked(1);
    one.asked[0]?.answer("applied");
    await untilAnswered(one, [[3, "applied"]]);
    one.update(3);
    one.update(2);
    expect(one.answers()).toEqual([
      [3, "applied"],
      [3, "applied"],
      [3, "applied"],
    ]);
    expect([one.asked.length, one.begun[0]?.params()]).toEqual([1, "v3"]);
  });

  test("asked about one while a newer one overtakes it, is asked about the newest of those that wait", async () => {
    const one = await running();
    for (const version of [2, 4, 3]) one.update(version);
    await one.untilAsked(1);
    one.asked[0]?.answer("applied");
    await one.untilAsked(2);
    expect(one.asked[1]?.word).toBe("v4");
    one.asked[1]?.answer("applied");
    await untilAnswered(one, [
      [2, "applied"],
      [4, "applied"],
    ]);
    expect(one.begun[0]?.params()).toBe("v4");
  });

  test("that rejects it runs on as it is, says why and what it keeps, and is not asked about it again", async () => {
    const one = await running();
    one.update(2, { silence: { warnAfterMs: 5_000 } });
    await one.untilAsked(1);
    one.asked[0]?.answer({ rejected: "too much" });
    await untilAnswered(one, [[2, "rejected"]]);
    expect(one.last()).toMatchObject({ reason: "too much", keeps: { params: { word: "v1" }, specVersion: 1 } });
    // Of params alone: the rest applies.
    expect(one.run().start).toMatchObject({ params: { word: "v1" }, silence: { warnAfterMs: 5_000 } });
    one.update(2);
    expect(one.answers()).toEqual([
      [2, "rejected"],
      [2, "rejected"],
    ]);
    expect([one.asked.length, one.begun.length, one.begun[0]?.params()]).toEqual([1, 1, "v1"]);
    // A newer one is another matter, and what it has already needs no asking.
    one.update(3, { params: { word: "v1" } });
    expect([one.answers().at(-1), one.asked.length]).toEqual([[3, "applied"], 1]);
  });

  test("that has rejected a version is asked about other params under it: restored books count from before", async () => {
    const one = await running();
    one.update(2);
    await one.untilAsked(1);
    one.asked[0]?.answer({ rejected: "too much" });
    await untilAnswered(one, [[2, "rejected"]]);
    one.update(2, { params: { word: "another" } });
    await one.untilAsked(2);
    one.asked[1]?.answer("applied");
    await untilAnswered(one, [
      [2, "rejected"],
      [2, "applied"],
    ]);
    expect(one.begun[0]?.params()).toBe("another");
  });

  test("is not asked about params that its type's schema does not take: that says why", async () => {
    const one = await running();
    one.update(2, { params: { word: "forbidden" } });
    await untilAnswered(one, [[2, "rejected"]]);
    expect([one.last()?.reason, one.asked.length]).toEqual([expect.stringContaining("is forbidden"), 0]);
  });

  test("begins again in place where it asks for that: same message, a higher fencing token, what is wanted", async () => {
    const one = await running();
    one.update(2);
    await one.untilAsked(1);
    one.asked[0]?.answer("restart");
    await one.untilBegun(["v1", "v2"]);
    expect(one.begun.map(({ fencingToken }) => fencingToken)).toEqual([5_000, 5_001]);
    expect(one.told.slice(-3)).toMatchObject([
      { kind: "RunUpdated", outcome: "restart" },
      { kind: "RunStopped", reason: "restarted" },
      { kind: "RunStarted", specVersion: 2, fencingToken: 5_001 },
    ]);
  });

  test.each<[string, (one: One) => void, string]>([
    ["throws", (one) => one.asked[0]?.answer(new TypeError("no feed")), "onUpdate threw TypeError: no feed"],
    ["answers nonsense", (one) => one.asked[0]?.answer("maybe" as never), "onUpdate answered neither"],
  ])("begins again with what is wanted where its handler %s, and says so", async (_, act, why) => {
    const one = await running();
    one.update(2);
    await one.untilAsked(1);
    act(one);
    await one.untilBegun(["v1", "v2"]);
    expect(one.last()).toMatchObject({ outcome: "restart", reason: expect.stringContaining(why) });
  });

  test("begins again with the newest where its handler does not answer; what it says later is dropped", async () => {
    const one = await running({ limitMs: 100 });
    one.update(2);
    one.update(3);
    await one.untilAsked(1);
    await one.untilBegun(["v1", "v3"]);
    one.asked[0]?.answer("applied");
    await new Promise((resolve) => setImmediate(resolve));
    expect(one.answers()).toEqual([[3, "restart"]]);
    expect([one.last()?.reason, one.begun[1]?.params()]).toEqual(["onUpdate has not answered for 100 ms", "v3"]);
  });

  test("begins again, where its type takes no change as it runs", async () => {
    const one = await running({ takes: false });
    one.update(2);
    await one.untilBegun(["v1", "v2"]);
    expect(one.last()).toMatchObject({ outcome: "restart", reason: "its type takes no change as it runs" });
  });

  test("takes limits of silence, and retry, without asking anybody", async () => {
    const one = await running();
    const retry = { ...DEFAULT_RETRY, maxAttempts: 7 };
    one.update(2, { params: { word: "v1" }, silence: { restartAfterMs: 1_000 }, retry });
    expect(one.answers()).toEqual([[2, "applied"]]);
    expect([one.asked.length, one.run().start.retry.maxAttempts]).toEqual([0, 7]);
    await eventually(() => expect(one.told.at(-1)).toMatchObject({ kind: "RunRetrying", error: { name: "SilentError" } }));
  });

  test("that waits for its next attempt is tried at once, with what is wanted", async () => {
    const one = await running({ retry: { ...DEFAULT_RETRY, delaysMs: [3_600_000] } });
    one.begun[0]?.fail(new Error("away"));
    await eventually(() => expect(one.told.at(-1)?.kind).toBe("RunRetrying"));
    one.update(2);
    await one.untilBegun(["v1", "v2"]);
    expect([one.answers(), one.asked.length]).toEqual([[[2, "applied"]], 0]);
    expect(one.told.at(-1)).toMatchObject({ kind: "RunStarted", attempt: 2, specVersion: 2 });
  });

  test("whose attempt ends before it has answered goes on with what is wanted", async () => {
    const one = await running({ retry: { ...DEFAULT_RETRY, delaysMs: [10] } });
    one.update(2);
    await one.untilAsked(1);
    one.begun[0]?.fail(new Error("blocked"));
    await one.untilBegun(["v1", "v2"]);
    expect(one.answers()).toEqual([[2, "restart"]]);
  });

  test("restarted in place while it is asked, begins with what is wanted; what is told to the run before is answered by its end", async () => {
    const one = await running();
    const { runId } = one.run();
    one.update(2);
    await one.untilAsked(1);
    one.runner.stop(one.run(), { kind: "restarted" });
    await one.untilBegun(["v1", "v2"]);
    one.update(3, {}, runId);
    expect(one.told.at(-1)).toMatchObject({ kind: "RunReleased", reason: "lease-lost", runId });
  });

  test("that is stopped for good says nothing more of it", async () => {
    const one = await running();
    one.update(2);
    await one.untilAsked(1);
    one.runner.stop(one.run(), { kind: "stopped" });
    one.asked[0]?.answer("applied");
    await eventually(() => expect(one.told.at(-1)).toMatchObject({ kind: "RunStopped", reason: "stopped" }));
    expect(one.answers()).toEqual([]);
  });

  test("that is no more, or has lost its lease, does not take it", async () => {
    const one = await running();
    one.update(2, {}, newRunId());
    expect(one.told.at(-1)).toMatchObject({ kind: "RunReleased", reason: "lease-lost" });
    one.loseLease();
    one.update(2);
    expect([one.answers(), one.asked.length]).toEqual([[], 0]);
  });
});
