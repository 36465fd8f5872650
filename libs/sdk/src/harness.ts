import { randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { ObserverIdentity } from "./observer-context.ts";
import type { ObserverDefinition, Silence } from "./observer-definition.ts";
import { ObserverStopped, type StopCode } from "./observer-stopped.ts";
import { MAX_UNCONFIRMED, OutputOverflowError } from "./output-overflow.ts";
import { MAX_EVENT_BYTES, OutputTooLargeError } from "./output-too-large.ts";
import { paramsIssuesText, parseSent } from "./params.ts";
import { everythingPermitted, type Permissions } from "./permissions.ts";
import { isNotOffered, offeredUnder, type RestrictedObserver } from "./restricted-observer.ts";
import { createRunContext, type RunContext } from "./run-context.ts";
import { type RunOutcome, settleRun } from "./run-outcome.ts";
import { readCheckpoint } from "./saving.ts";
import { SdkError } from "./sdk-error.ts";
import { settledWithin } from "./settle-limit.ts";
import { silentError } from "./silent-error.ts";
import { type LoggedLine, Spy } from "./spy.ts";
import { Turns } from "./turns.ts";
import { settleUpdate, type UpdateOutcome } from "./update.ts";
import { answerInTime, ENDED_FIRST, UpdateLine } from "./update-line.ts";

/** What a run in memory begins with; all of it may be left out. */
export type HarnessOptions = {
  /** As a client would send them; checked by the type's schema as on a service. Default `{}`. */
  readonly params?: unknown;
  /** Parts of the identity that the handler should see. Default: a random id, the type as name, no labels. */
  readonly observer?: Partial<Omit<ObserverIdentity, "type">>;
  /** UUID of the run. Default: a random one. */
  readonly runId?: string;
  /** `ctx.fencingToken` of a type with `start: "admitted"`. Default: the milliseconds of the clock, as in service. */
  readonly fencingToken?: number;
  /** How long it may be silent, as an observer says it for itself. Default: as its type says. */
  readonly silence?: Silence;
  /** `ctx.checkpoint` of a type that has one; checked by its schema. Default: none. */
  readonly checkpoint?: unknown;
  /** What a restricted type is made for. Default: everything is permitted. */
  readonly permissions?: Permissions;
  /** How long `stop`, `crash` and `silence` wait for a handler whose signal has aborted, in ms by the real clock; then they reject with `not-settled`. Default 4,000: sooner than a test is given up. */
  readonly settleWithinMs?: number;
};

/** That of a service by default. Every event is confirmed at once here, so that nothing ever waits for so long. */
const STOP_TIMEOUT_MS = 25_000;
/** How long a handler that was told to end is waited for, unless a test says otherwise: runners give a test up after five seconds. */
const SETTLE_WITHIN_MS = 4_000;

/** An observer running in memory. */
export type HarnessRun = {
  /** What was emitted so far, as a subscriber would read it: after JSON. It grows while the run goes on. */
  readonly events: readonly unknown[];
  /** What was logged so far. It grows while the run goes on. */
  readonly logs: readonly LoggedLine[];
  /** How often it has emitted, or said `alive`: what counts against silence. */
  readonly beats: number;
  /** What was saved so far (`saveCheckpoint`), as the next run would be given it; each is confirmed at once. */
  readonly checkpoints: readonly unknown[];
  /** Sees all of that, and waits for it: `run.spy.waitFor("log", ({ message }) => message === "connected")`. */
  readonly spy: Spy;
  /**
   * Aborts the run's signal, by default as `stopped`, and resolves when the handler has settled; rejects with `not-settled` where that
   * does not within `settleWithinMs`. Emits after `lease-lost`,
   * which may also follow another reason, reject as on a service.
   */
  stop(reason?: StopCode | ObserverStopped): Promise<RunOutcome>;
  /**
   * As if its service were killed, and the observer ran elsewhere: nothing that this run does from now on counts, and when its handler
   * has settled (here it has to), the next run begins, with a higher fencing token, the params that are wanted by now, and what was saved last.
   */
  crash(): Promise<HarnessRun>;
  /**
   * Lets so much time pass in which it has no beat, beyond what has passed since the last one; no clock is touched. `warned`: it
   * would be marked as silent · `failed`: its attempt fails with a `SilentError`, and the run ends · `fine`: neither, or nobody watches,
   * as it is over.
   */
  silence(ms: number): Promise<"fine" | "warned" | "failed">;
  /**
   * Gives the running handler new params, as a client would send them: how its type takes them. `rejected` too where they do not pass its
   * schema. After `restart` the run goes on here as it was; a service would begin it again. As on a service nobody is asked about what is
   * wanted already; one answer is awaited at a time, for 10 s at most, and of the changes that come meanwhile the newest counts, whose
   * outcome the others have, too; one that has ended, or is told to, begins again by what is wanted. Rejects with `invalid-params` where
   * the run could not begin.
   */
  update(params: unknown): Promise<UpdateOutcome>;
  /** How the run ended; never rejects. Params, or a checkpoint, that do not pass are `failed` with the schema's message. */
  readonly finished: Promise<RunOutcome>;
  /**
   * The first event, of those emitted before as well, for which the predicate holds. Rejects with `event-not-seen` after
   * `timeoutMs` (default 5,000) or when the run ends without one.
   */
  waitForEvent<E = unknown>(predicate?: (event: E) => boolean, options?: { readonly timeoutMs?: number }): Promise<E>;
};

/**
 * Runs an observer in memory, with no broker and no service: for tests of a handler. One attempt, no retries. Throws
 * `not-offered` for a type that does not exist under these permissions, `invalid-definition` for what is no type.
 *
 * @example
 * ```ts
 * import { defineObserver, runObserver, sleep } from "@unacked/sdk";
 * import { z } from "zod";
 *
 * const heartbeat = defineObserver({
 *   type: "heartbeat",
 *   params: z.strictObject({ everyMs: z.int().default(1_000) }),
 *   async run({ params, signal, emit }) {
 *     for (let n = 1; await sleep(params.everyMs, signal); n += 1) await emit({ n });
 *   },
 * });
 * const run = runObserver(heartbeat, { params: { everyMs: 10 } });
 * await run.waitForEvent<{ n: number }>(({ n }) => n === 3);
 * await run.stop(); // { outcome: "stopped" }
 * ```
 */
export function runObserver<P>(
  observer: ObserverDefinition<P> | RestrictedObserver,
  options: HarnessOptions = {},
): HarnessRun {
  const definition = definitionOf(observer, options.permissions ?? everythingPermitted);
  const identity = identityOf(definition, options);
  const fencingToken = options.fencingToken ?? Date.now();
  const spy = new Spy();
  const turns = new Turns();
  const quiet = { forMs: 0, beats: 0 };
  let beats = 0;
  let unconfirmed = 0;
  let wanted: unknown = copyOf(options.params ?? {});
  let saved = options.checkpoint === undefined ? undefined : JSON.stringify(options.checkpoint);
  let running: RunContext<unknown> | undefined;
  let silent: Error | undefined;
  let isOver = false;

  const start = async (): Promise<RunOutcome> => {
    const parsed = parseSent(definition, wanted);
    if (!parsed.ok) {
      return { outcome: "failed", error: new SdkError("invalid-params", paramsIssuesText(parsed.issues)) };
    }
    const { checkpoint: schema } = definition;
    let checkpoint: unknown;
    try {
      checkpoint = schema && readCheckpoint(schema, saved);
    } catch (error) {
      return { outcome: "failed", error: error as Error };
    }
    const created = createRunContext({
      params: parsed.params,
      isUpdatable: definition.onUpdate !== undefined,
      observer: identity,
      runId: options.runId ?? randomUUID(),
      fencingToken: definition.start === "admitted" ? fencingToken : undefined,
      saves: schema && {
        schema,
        everyMs: 0,
        checkpoint,
        save: (json) => {
          saved = json;
          spy.note("checkpoint", readCheckpoint(schema, json));
          return turns.pass();
        },
      },
      stopTimeoutMs: STOP_TIMEOUT_MS,
      writeLog: (level, message, fields) => spy.note("log", { level, message, ...(fields && { fields }) }),
      beat: () => void (beats += 1),
      publish: async (eventJson) => {
        const bytes = Buffer.byteLength(eventJson);
        if (bytes > MAX_EVENT_BYTES) throw new OutputTooLargeError(bytes);
        if (unconfirmed >= MAX_UNCONFIRMED) throw new OutputOverflowError(MAX_UNCONFIRMED);
        spy.note("event", JSON.parse(eventJson));
        unconfirmed += 1;
        await turns.pass();
        unconfirmed -= 1;
      },
    });
    running = created;
    const outcome = await settleRun(definition, created.context);
    isOver = true;
    await created.end();
    return silent === undefined ? outcome : { outcome: "failed", error: silent };
  };
  const ask = async (params: unknown): Promise<UpdateOutcome> => {
    const parsed = parseSent(definition, params);
    if (!parsed.ok) return { outcome: "rejected", reason: paramsIssuesText(parsed.issues) };
    const { context } = running as RunContext<unknown>; // or none had been taken
    if (isDeepStrictEqual(params, wanted)) return { outcome: "applied" };
    const isAsked = !isOver && !context.signal.aborted;
    const outcome = isAsked
      ? await answerInTime(settleUpdate(definition, parsed.params, context), context.signal, finished)
      : ENDED_FIRST;
    if (outcome.outcome === "applied") running?.update(parsed.params);
    if (outcome.outcome !== "rejected") wanted = params;
    return outcome;
  };
  const updates = new UpdateLine(ask, (params) => void (wanted = params));
  spy.begin();
  const finished = start();
  const settled = () => settledWithin(options.settleWithinMs ?? SETTLE_WITHIN_MS, finished);
  void finished.then((end) => {
    isOver = true;
    const why = end.outcome !== "completed" && end.error ? ` (${end.error.message})` : "";
    spy.end(`the run ended as ${end.outcome}${why}`);
  });

  return {
    events: spy.seen("event"),
    logs: spy.seen("log"),
    get beats() {
      return beats;
    },
    checkpoints: spy.seen("checkpoint"),
    spy,
    finished,
    async update(params) {
      if (running === undefined) throw new SdkError("invalid-params", "the run has not begun");
      return updates.take(copyOf(params));
    },
    stop(reason = "stopped") {
      running?.stop(typeof reason === "string" ? new ObserverStopped(reason) : reason);
      return settled();
    },
    async crash() {
      running?.stop(new ObserverStopped("lease-lost"));
      await settled();
      const { runId: _, checkpoint: __, ...same } = options;
      const checkpoint = saved === undefined ? {} : { checkpoint: JSON.parse(saved) as unknown };
      return runObserver(observer, {
        ...same,
        ...checkpoint,
        params: wanted,
        observer: identity,
        fencingToken: fencingToken + 1,
      });
    },
    async silence(ms) {
      if (isOver) return "fine";
      if (beats !== quiet.beats) quiet.forMs = 0;
      quiet.beats = beats;
      quiet.forMs += ms;
      const { warnAfterMs, restartAfterMs } = options.silence ?? definition.silence ?? {};
      if (restartAfterMs !== undefined && quiet.forMs >= restartAfterMs) {
        silent = silentError(quiet.forMs);
        running?.stop(new ObserverStopped("failed", silent.message, { cause: silent }));
        await settled();
        return "failed";
      }
      return warnAfterMs !== undefined && quiet.forMs >= warnAfterMs ? "warned" : "fine";
    },
    waitForEvent: <E>(predicate: (event: E) => boolean = () => true, limit?: { readonly timeoutMs?: number }) =>
      spy.waitFor("event", (event) => predicate(event as E), limit) as Promise<E>,
  };
}

/** As a service is given it, by JSON; what none can say is refused when it is parsed. */
function copyOf(params: unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(params)) as unknown;
  } catch {
    return params;
  }
}

/** Frozen, labels and all, as on a service. */
function identityOf({ type }: ObserverDefinition, { observer = {} }: HarnessOptions): ObserverIdentity {
  return Object.freeze({ id: randomUUID(), name: type, ...observer, type, labels: Object.freeze({ ...observer.labels }) });
}

function definitionOf(observer: unknown, permissions: Permissions): ObserverDefinition {
  const offered = offeredUnder(observer, permissions);
  if (offered === undefined) throw new SdkError("invalid-definition", "runObserver takes what defineObserver gave");
  if (isNotOffered(offered)) throw new SdkError("not-offered", `the type is not offered: ${offered.notOffered}`);
  return offered;
}
