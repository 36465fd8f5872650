import {
  defineObserver,
  type HarnessRun,
  MAX_EVENT_BYTES,
  type ObserverContext,
  ObserverStopped,
  runObserver,
  sleep,
  type UpdateAnswer,
  untilAborted,
} from "@unacked/sdk";
import { createRunContext } from "@unacked/sdk/host";
import { expect, test, vi } from "vitest";
import { z } from "zod";

const LOST = new ObserverStopped("lease-lost");
const anyParams = z.object({ n: z.number().default(1) });

function observer(run: (ctx: ObserverContext<{ n: number }>) => Promise<void>) {
  return defineObserver({ type: "tried", params: anyParams, run });
}

test("a handler sees its params, identity and run, and what it emits and logs can be read", async () => {
  const run = runObserver(
    observer(async ({ params, observer: who, runId, log, emit }) => {
      log.info("hello", { runId });
      await emit({ params, who });
    }),
    { params: { n: 2 }, observer: { name: "first", labels: { team: "a" } }, runId: "run-1" },
  );
  expect(await run.finished).toEqual({ outcome: "completed" });
  expect(run.logs).toEqual([{ level: "info", message: "hello", fields: { runId: "run-1" } }]);
  expect(run.events).toEqual([
    { params: { n: 2 }, who: { id: expect.any(String), name: "first", type: "tried", labels: { team: "a" } } },
  ]);
});

test("who it is cannot be changed, as on a service", async () => {
  const labels = { team: "a" };
  const run = runObserver(
    observer(async ({ observer: who, emit }) => {
      const changes = [
        () => Object.assign(who, { name: "other" }),
        () => Object.assign(who.labels, { team: "b" }),
        () => Object.assign(who.labels, { more: "c" }),
      ];
      for (const change of changes) expect(change).toThrow(TypeError);
      await emit(who.labels);
    }),
    { observer: { labels } },
  );
  expect(await run.finished).toEqual({ outcome: "completed" });
  expect(run.events).toEqual([{ team: "a" }]);
  expect(Object.isFrozen(labels)).toBe(false);
});

test("stop aborts with a reason that says why, and waits until the handler has settled", async () => {
  const reasons: unknown[] = [];
  const run = runObserver(
    observer(async ({ signal }) => {
      reasons.push(await untilAborted(signal));
    }),
  );
  expect(await run.stop("draining")).toEqual({ outcome: "stopped" });
  expect(reasons).toEqual([expect.objectContaining({ code: "draining" })]);
});

test("throwing the reason is a stop; throwing something else after it keeps the error", async () => {
  const throwsReason = observer(async ({ signal }) => {
    await untilAborted(signal);
    signal.throwIfAborted();
  });
  expect(await runObserver(throwsReason).stop()).toEqual({ outcome: "stopped" });

  const throwsForIt = observer(async ({ signal }) => {
    await untilAborted(signal);
    throw Object.assign(new Error("given up", { cause: signal.reason }), { name: "ObserverStopped" });
  });
  expect(await runObserver(throwsForIt).stop()).toEqual({ outcome: "stopped" });

  const breaksWhileStopping = observer(async ({ signal }) => {
    await untilAborted(signal);
    throw new Error("socket was gone");
  });
  expect(await runObserver(breaksWhileStopping).stop()).toMatchObject({
    outcome: "stopped",
    error: { message: "socket was gone" },
  });
});

test("a handler that throws fails, whether it had awaited or not, and whatever it throws", async () => {
  const throwsAtOnce = observer(() => {
    throw new Error("at once");
  });
  expect(await runObserver(throwsAtOnce).finished).toMatchObject({ outcome: "failed", error: { message: "at once" } });
  const throwsText = observer(() => Promise.reject("a text"));
  expect(await runObserver(throwsText).finished).toMatchObject({
    outcome: "failed",
    error: { name: "NotAnError", message: "something else than an Error was thrown: a text" },
  });
});

test("what is thrown and is no error is shown, bounded, without running any of its code", async () => {
  const hostile = () => {
    throw new Error("not me");
  };
  const traps = new Proxy({}, { get: hostile, getPrototypeOf: hostile, ownKeys: hostile, has: hostile });
  const named = {
    get [Symbol.toStringTag]() {
      return hostile();
    },
  };
  const child = Object.create(new Proxy({}, { getPrototypeOf: hostile, getOwnPropertyDescriptor: hostile }));
  const circular: { self?: unknown } = {};
  circular.self = circular;
  for (const [thrown, shown] of [
    [{ code: 7, text: "an object" }, /^\{ code: 7, text: 'an object' \}$/],
    [
      {
        get secret() {
          return hostile();
        },
      },
      /^\{ secret: \[Getter\] \}$/,
    ],
    [Object.assign(Object.create(null), { n: 1n }), /n: 1n/],
    [{ deep: Array.from({ length: 1_000_000 }, (_, n) => n) }, /… |more items/],
    ["x".repeat(1_000_000), /^x{2000}…$/],
    [traps, /^\{\}$/],
    [named, /cannot be shown$|\[Getter\]/], // Node.js 20 asks it for its name, 24 does not
    [child, /cannot be shown$/],
    [circular, /Circular/],
    [undefined, /^undefined$/],
    [Symbol("s"), /^Symbol\(s\)$/],
  ] as const) {
    const { outcome, error } = (await runObserver(observer(() => Promise.reject(thrown))).finished) as {
      outcome: string;
      error: Error;
    };
    expect([outcome, error.name]).toEqual(["failed", "NotAnError"]);
    const [start, text] = ["something else than an Error was thrown: ", error.message];
    expect(text.startsWith(start)).toBe(true);
    expect(text.slice(start.length)).toMatch(shown);
    expect(text.length).toBeLessThan(2_100);
  }
});

test("an uncaught error attributed to the run makes it failed, with that error", async () => {
  const cause = new Error("from a timer");
  const run = runObserver(observer(async ({ signal }) => void (await untilAborted(signal))));
  expect(await run.stop(new ObserverStopped("failed", undefined, { cause }))).toEqual({
    outcome: "failed",
    error: cause,
  });
});

test("params that do not pass fail the run with the schema's words, and the handler is not called", async () => {
  let called = false;
  const run = runObserver(
    observer(async () => {
      called = true;
    }),
    { params: { n: "two" } },
  );
  expect(await run.finished).toMatchObject({
    outcome: "failed",
    error: { code: "invalid-params", message: expect.stringMatching(/^\/n: .*number/) },
  });
  expect(called).toBe(false);
});

test("params are what JSON makes of them, as a client sends them: a Date is a text, and what JSON cannot say is refused", async () => {
  const since = (date: z.ZodType<Date>) =>
    defineObserver({
      type: "since",
      params: z.object({ since: date }),
      run: ({ params, emit }) => emit(params.since.getTime()),
    });
  const params = { since: new Date(1_000) };
  expect(await runObserver(since(z.date()), { params }).finished).toMatchObject({
    outcome: "failed",
    error: { code: "invalid-params", message: expect.stringContaining("/since") },
  });
  const run = runObserver(since(z.coerce.date()), { params });
  expect(await run.finished).toEqual({ outcome: "completed" });
  expect(run.events).toEqual([1_000]);
  expect(await runObserver(since(z.coerce.date()), { params: { since: 1n } }).finished).toMatchObject({ outcome: "failed" });
});

test("an event is what it was when it was emitted", async () => {
  const run = runObserver(
    observer(async ({ emit }) => {
      const event = { n: 1, left: undefined };
      const sent = emit(event);
      event.n = 2;
      await sent;
    }),
  );
  await run.finished;
  expect(run.events).toEqual([{ n: 1 }]);
});

test("what is no JSON is refused, and emit after the end too", async () => {
  let late: ObserverContext["emit"] = () => Promise.resolve();
  const run = runObserver(
    observer(async ({ emit }) => {
      late = emit;
      await expect(emit(undefined)).rejects.toMatchObject({ code: "event-not-json" });
      await expect(emit({ big: 1n })).rejects.toMatchObject({ code: "event-not-json" });
    }),
  );
  expect(await run.finished).toEqual({ outcome: "completed" });
  await expect(late({ n: 1 })).rejects.toMatchObject({ code: "emit-after-end" });
  expect(run.events).toEqual([]);
});

test("an event that a service refuses as too large is refused here, too", async () => {
  const run = runObserver(
    observer(async ({ emit }) => {
      await emit("x".repeat(MAX_EVENT_BYTES - 2));
      await emit("ž".repeat(MAX_EVENT_BYTES / 2));
    }),
  );
  expect(await run.finished).toMatchObject({ outcome: "failed", error: { code: "output-too-large" } });
  expect(run.events).toHaveLength(1);
});

test("an emit that fails and that nobody awaits is a warning, not an unhandled rejection", async () => {
  const unhandled: unknown[] = [];
  const onUnhandled = (reason: unknown) => unhandled.push(reason);
  process.on("unhandledRejection", onUnhandled);
  const warnings: string[] = [];
  const run = createRunContext({
    params: {},
    observer: { id: "1", name: "a", type: "tried", labels: {} },
    runId: "r",
    stopTimeoutMs: 1_000,
    writeLog: (level, message) => warnings.push(`${level}: ${message}`),
    publish: () => Promise.reject(new Error("not confirmed")),
  });
  void run.context.emit(1);
  void run.end();
  void run.context.emit(2);
  void run.context.emit(3);
  // Unhandled rejections are reported after the microtasks of a turn: two turns later all would be there.
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  process.off("unhandledRejection", onUnhandled);
  expect(unhandled).toEqual([]);
  expect(warnings).toHaveLength(2); // one before the end, one for all after it
});

test("what nobody awaits and is refused as the handler returns is a warning all the same: it stands there when the run has ended", async () => {
  const saving = defineObserver({
    type: "saving",
    params: z.object({}),
    checkpoint: z.number(),
    run: async ({ emit, saveCheckpoint }) => {
      void emit({ big: 1n });
      void saveCheckpoint("one" as never);
    },
  });
  const run = runObserver(saving);
  expect(await run.finished).toEqual({ outcome: "completed" });
  const messages = ["an emitted event was not published", "a checkpoint was not saved"];
  expect(run.logs).toEqual(messages.map((message) => expect.objectContaining({ level: "warn", message })));
});

/** A run whose events are never confirmed, as on a service that is cut off from its broker. */
function unconfirmedRun(stopTimeoutMs: number) {
  const warnings: string[] = [];
  const sent: string[] = [];
  const run = createRunContext({
    params: {},
    observer: { id: "1", name: "a", type: "tried", labels: {} },
    runId: "r",
    stopTimeoutMs,
    writeLog: (level, message) => warnings.push(`${level}: ${message}`),
    publish: (eventJson) => {
      sent.push(eventJson);
      return new Promise(() => undefined);
    },
  });
  return { ...run, emit: run.context.emit, stop: run.stop.bind(run), warnings, sent };
}

test("a lost lease rejects the emits that wait and those that come, with one warning for all of them", async () => {
  const { emit, stop, warnings, sent } = unconfirmedRun(60_000);
  const waiting = [emit(1), emit(2)];
  const reason = new ObserverStopped("lease-lost");
  stop(reason);
  for (const each of [...waiting, emit(3)]) await expect(each).rejects.toBe(reason);
  expect(sent).toEqual(["1", "2"]);
  expect(warnings).toHaveLength(1);
});

test("a lease that is lost after another stop ends the emits all the same", async () => {
  const { emit, stop, context } = unconfirmedRun(60_000);
  const waiting = emit(1);
  stop(new ObserverStopped("stopped"));
  const inGoodbye = emit(2);
  const reason = new ObserverStopped("lease-lost");
  stop(reason);
  for (const each of [waiting, inGoodbye, emit(3)]) await expect(each).rejects.toBe(reason);
  expect(context.signal.reason).toMatchObject({ code: "stopped" });
});

test("another stop lets each emit wait for the stop timeout, those of the goodbye too", async () => {
  const { emit, stop, sent } = unconfirmedRun(20);
  const waiting = emit(1);
  const reason = new ObserverStopped("draining");
  stop(reason);
  await expect(waiting).rejects.toBe(reason);
  await expect(emit("goodbye")).rejects.toBe(reason);
  expect(sent).toEqual(["1", '"goodbye"']);
});

test("an emit loop that swallows what a lost lease rejects with does not keep others from running", async () => {
  let turns = 0;
  const run = runObserver(
    observer(async ({ emit }) => {
      while (turns < 3) await emit(turns).catch(() => undefined);
    }),
  );
  const count = (): void => {
    turns += 1;
    if (turns < 3) setImmediate(count);
  };
  setImmediate(count);
  expect(await run.stop("lease-lost")).toEqual({ outcome: "stopped" });
});

type Refused = ReturnType<typeof createRunContext> & { context: { saveCheckpoint(value: unknown): Promise<void> } };

test.each<[string, (run: Refused) => Promise<void>]>([
  ["an event of which nothing waits any more", ({ context }) => context.emit(1)],
  ["an event that is no JSON", ({ context }) => context.emit(undefined)],
  [
    "an event after its end",
    async ({ context, end }) => {
      void end();
      await context.emit(1);
    },
  ],
  ["a checkpoint that does not fit", ({ context }) => context.saveCheckpoint("one")],
  [
    "a checkpoint after its lease",
    async ({ context, stop }) => {
      stop(LOST);
      await context.saveCheckpoint(1);
    },
  ],
  [
    "a checkpoint after its end",
    async ({ context, end }) => {
      void end();
      await context.saveCheckpoint(1);
    },
  ],
])("a loop that swallows what is refused at once does not keep others from running: %s", async (_, act) => {
  const created = createRunContext({
    params: {},
    observer: { id: "1", name: "a", type: "tried", labels: {} },
    runId: "r",
    fencingToken: 1,
    saves: { schema: z.number(), everyMs: 0, checkpoint: undefined, save: () => Promise.resolve() },
    stopTimeoutMs: 1_000,
    writeLog: () => undefined,
    publish: () => Promise.reject(new Error("10000 wait already")),
  });
  const run = { context: created.context, end: () => created.end(), stop: (reason: never) => created.stop(reason) };
  let turns = 0;
  setImmediate(() => (turns += 1));
  for (let tries = 0; turns === 0 && tries < 1_000; tries += 1) await act(run as never).catch(() => undefined);
  expect(turns).toBe(1);
});

test.each([
  ["emits", false],
  ["emits", true],
  ["saves", false],
])(
  "a handler that does nothing but what is confirmed at once keeps no timer from firing: it %s (of a fake clock: %s)",
  async (what, isFake) => {
    if (isFake) vi.useFakeTimers();
    try {
      const busy = defineObserver({
        type: "busy",
        params: z.object({}),
        checkpoint: z.number(),
        async run({ signal, emit, saveCheckpoint }) {
          for (let n = 0; n < 200_000 && !signal.aborted; n += 1) await (what === "emits" ? emit(n) : saveCheckpoint(n));
        },
      });
      const run = runObserver(busy);
      setTimeout(() => void run.stop(), 5);
      if (isFake) await vi.advanceTimersByTimeAsync(5);
      expect(await run.finished).toEqual({ outcome: "stopped" });
    } finally {
      vi.useRealTimers();
    }
  },
);

test("a handler that works for a while between what it emits loses nothing of it under a fake clock", async () => {
  const realMs = performance.now.bind(performance);
  vi.useFakeTimers();
  try {
    const working = observer(async ({ signal, emit }) => {
      while (await sleep(1_000, signal)) {
        for (const begunMs = realMs(); realMs() - begunMs < 12; );
        await emit(1);
        await emit(2);
      }
    });
    const run = runObserver(working);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(run.events).toHaveLength(10);
    await run.stop();
  } finally {
    vi.useRealTimers();
  }
});

test("in the harness too, a handler that emits after its lease was lost is told so, and has stopped by that", async () => {
  const run = runObserver(
    observer(async ({ signal, emit }) => {
      await untilAborted(signal);
      await emit("goodbye");
    }),
  );
  void run.stop("stopped");
  expect(await run.stop("lease-lost")).toEqual({ outcome: "stopped" });
  expect(run.events).toEqual([]);
});

test("waitForEvent finds what came before and what comes later, and gives up in words", async () => {
  const run = runObserver(
    observer(async ({ emit, signal }) => {
      await emit({ n: 1 });
      setImmediate(() => void emit({ n: 2 }));
      await untilAborted(signal);
    }),
  );
  expect(await run.waitForEvent<{ n: number }>(({ n }) => n === 2)).toEqual({ n: 2 });
  expect(await run.waitForEvent()).toEqual({ n: 1 });
  await expect(run.waitForEvent(() => false, { timeoutMs: 5 })).rejects.toMatchObject({ code: "event-not-seen" });
  const hopeless = run.waitForEvent(() => false);
  await run.stop();
  await expect(hopeless).rejects.toThrow(/ended as stopped/);
});

test("a crash begins the next run of the same observer, from its checkpoint, with a higher fencing token; what the dead one does counts for nobody", async () => {
  const late: unknown[] = [];
  const counting = defineObserver({
    type: "counting",
    params: z.object({ step: z.number() }),
    checkpoint: z.object({ n: z.int() }),
    onUpdate: () => "applied",
    async run(ctx) {
      const n = (ctx.checkpoint?.n ?? 0) + ctx.params.step;
      await ctx.saveCheckpoint({ n });
      await ctx.emit({ n, fencingToken: ctx.fencingToken, id: ctx.observer.id });
      await untilAborted(ctx.signal);
      for (const act of [ctx.emit({ n: -1 }), ctx.saveCheckpoint({ n: -1 })]) await act.catch((error) => late.push(error));
    },
  });
  const first = runObserver(counting, { params: { step: 1 }, checkpoint: { n: 10 }, fencingToken: 5 });
  const before = await first.waitForEvent<{ id: string }>();
  expect(await first.update({ step: 100 })).toEqual({ outcome: "applied" });
  const next = await first.crash();
  expect(await next.waitForEvent()).toEqual({ n: 111, fencingToken: 6, id: before.id });
  expect([first.events.length, first.checkpoints]).toEqual([1, [{ n: 11 }]]);
  expect(late).toEqual([expect.objectContaining({ code: "lease-lost" }), expect.objectContaining({ code: "lease-lost" })]);
  await next.stop();
});

/** A run whose `onUpdate` answers by hand; `asked`: what it was asked about. */
function updatable(params = { n: 1 }) {
  const asked: { n: number; answer(answer: UpdateAnswer): void }[] = [];
  const type = defineObserver({
    type: "updatable",
    params: anyParams,
    onUpdate: ({ n }) => new Promise<UpdateAnswer>((resolve) => void asked.push({ n, answer: resolve })),
    run: async ({ signal }) => void (await untilAborted(signal)),
  });
  return { asked, run: runObserver(type, { params }), count: () => asked.map(({ n }) => n) };
}

test("one answer of onUpdate is awaited at a time, and of the changes that come meanwhile the newest counts", async () => {
  const { asked, run, count } = updatable();
  const outcomes = [2, 3, 4].map((n) => run.update({ n }));
  expect(count()).toEqual([2]);
  asked[0]?.answer({ rejected: "not two" });
  expect(await outcomes[0]).toEqual({ outcome: "rejected", reason: "not two" });
  expect(count()).toEqual([2, 4]);
  asked[1]?.answer("applied");
  expect(await Promise.all(outcomes.slice(1))).toEqual([{ outcome: "applied" }, { outcome: "applied" }]);
  const last = [5, 6].map((n) => run.update({ n }));
  asked[2]?.answer("restart");
  // It begins again with the newest: nobody is asked.
  expect(await Promise.all(last)).toEqual([{ outcome: "restart" }, { outcome: "restart" }]);
  expect(count()).toEqual([2, 4, 5]);
  expect(await run.update({ n: 6 })).toEqual({ outcome: "applied" });
  await run.stop();
});

test("what is wanted already is applied without asking", async () => {
  const { asked, run, count } = updatable();
  expect(await run.update({ n: 1 })).toEqual({ outcome: "applied" });
  const rejected = run.update({ n: 2 });
  asked[0]?.answer({ rejected: "no" });
  await rejected;
  void run.update({ n: 2 });
  expect(count()).toEqual([2, 2]);
  await run.stop();
});

test("params are held as they were when they were given: the same object, changed, is another wish", async () => {
  const params = { n: 1 };
  const { asked, run, count } = updatable(params);
  params.n = 2;
  const updated = run.update(params);
  params.n = 3;
  asked[0]?.answer("applied");
  expect(await updated).toEqual({ outcome: "applied" });
  expect(count()).toEqual([2]);
  await run.stop();
});

test("an update that no JSON can say is refused, and the next one is asked", async () => {
  const { asked, run, count } = updatable();
  const endless: { n: unknown } = { n: 2 };
  endless.n = endless;
  expect(await run.update(endless as never)).toMatchObject({ outcome: "rejected" });
  const next = run.update({ n: 3 });
  asked[0]?.answer("applied");
  expect(await next).toEqual({ outcome: "applied" });
  expect(count()).toEqual([3]);
  await run.stop();
});

test("a handler that is over, or told to end, is asked nothing, and its answer is not waited for: the next run begins with what is wanted", async () => {
  const { asked, run, count } = updatable();
  const waiting = [2, 3].map((n) => run.update({ n }));
  const over = run.stop();
  const ended = { outcome: "restart", reason: "its handler ended before it had answered" };
  expect(await Promise.all(waiting)).toEqual([ended, ended]);
  asked[0]?.answer("applied");
  await over;
  expect(await run.update({ n: 4 })).toEqual(ended);
  expect(count()).toEqual([2]);
});

test("an onUpdate that does not answer is waited for as long as on a service: the run begins again", async () => {
  vi.useFakeTimers();
  try {
    const { run } = updatable();
    const outcome = run.update({ n: 2 });
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await outcome).toEqual({ outcome: "restart", reason: "onUpdate has not answered for 10000 ms" });
    await run.stop();
  } finally {
    vi.useRealTimers();
  }
});

test("silence passes without a wait: fine, warned, failed; a beat begins anew, and what the observer says stands before its type", async () => {
  let alive = (): void => undefined;
  const quiet = defineObserver({
    type: "quiet",
    params: z.object({}),
    silence: { warnAfterMs: 10_000, restartAfterMs: 60_000 },
    async run(ctx) {
      alive = ctx.alive;
      await untilAborted(ctx.signal);
    },
  });
  const run = runObserver(quiet);
  expect(await run.silence(9_999)).toBe("fine");
  expect(await run.silence(1)).toBe("warned");
  alive();
  expect(await run.silence(9_999)).toBe("fine");
  expect(await run.silence(50_001)).toBe("failed");
  expect(await run.finished).toMatchObject({ outcome: "failed", error: { name: "SilentError" } });

  const patient = runObserver(quiet, { silence: { warnAfterMs: 100_000 } });
  expect(await patient.silence(99_000)).toBe("fine");
  expect(await patient.silence(1_000_000)).toBe("warned");
  await patient.stop();
});

test("the spy waits for whatever a handler does, and says what it was that did not come", async () => {
  const run = runObserver(
    observer(async ({ log, signal }) => {
      log.info("connecting");
      setImmediate(() => log.info("connected"));
      await untilAborted(signal);
    }),
  );
  expect(await run.spy.waitFor("log", ({ message }) => message === "connected")).toMatchObject({ level: "info" });
  const hopeless = run.spy.waitFor("checkpoint");
  await run.stop();
  await expect(hopeless).rejects.toThrow("the run ended as stopped without such a checkpoint; 0 others came");
  await expect(run.spy.waitFor("event")).rejects.toThrow("without such an event");
});

test("a checkpoint that its type does not take ends the run as failed, as on a service", async () => {
  const counting = defineObserver({
    type: "counting",
    params: z.object({}),
    checkpoint: z.object({ n: z.int() }),
    run: () => Promise.resolve(),
  });
  const { finished } = runObserver(counting, { checkpoint: { n: "ten" } });
  expect(await finished).toMatchObject({ outcome: "failed", error: { code: "invalid-checkpoint" } });
});

test("the signal is one that fetch takes, whatever a handler beside it puts in the place of what they share", async () => {
  const { AbortController } = globalThis;
  Object.assign(globalThis, { AbortController: Map });
  let signal: unknown;
  const run = runObserver(observer(async (ctx) => void (signal = ctx.signal)));
  Object.assign(globalThis, { AbortController });
  await run.finished;
  expect(signal).toBeInstanceOf(AbortSignal);
});

test("a handler that is a generator has failed: nothing iterates it", async () => {
  const generators = [
    async function* () {
      yield 1;
    },
    function* () {
      yield 1;
    },
  ];
  for (const run of generators) {
    const { finished } = runObserver(observer(run as never));
    expect(await finished).toMatchObject({
      outcome: "failed",
      error: {
        name: "NonRetryableError",
        message: expect.stringContaining("run returned an iterator, which nothing iterates"),
      },
    });
  }
});

test("of emits that nobody awaits those beyond 10,000 are refused, as on a service", async () => {
  let last: Promise<void> | undefined;
  const run = runObserver(
    observer(async ({ emit }) => {
      for (let n = 0; n < 10_000; n += 1) void emit(n);
      last = emit("one too many");
      await last.catch(() => undefined);
      await emit("when they are confirmed");
    }),
  );
  expect(await run.finished).toEqual({ outcome: "completed" });
  await expect(last).rejects.toMatchObject({ name: "OutputOverflowError", code: "output-overflow" });
  expect(run.events.slice(9_999)).toEqual([9_999, "when they are confirmed"]);
});

test.each<[string, (run: HarnessRun) => Promise<unknown>]>([
  ["a stop", (run) => run.stop()],
  ["a crash", (run) => run.crash()],
  ["too long a silence", (run) => run.silence(5_000)],
])("a handler that ignores its signal is not waited for: %s rejects, and says so", async (_, end) => {
  const deaf = observer(() => new Promise(() => undefined));
  const run = runObserver(deaf, { silence: { restartAfterMs: 5_000 }, settleWithinMs: 10 });
  await expect(end(run)).rejects.toMatchObject({
    code: "not-settled",
    message: expect.stringContaining("has not settled within 10 ms: it ignores its signal"),
  });
});
