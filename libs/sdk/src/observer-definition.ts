import type { z } from "zod";
import type { AdmittedContext, CheckpointContext, ObserverContext } from "./observer-context.ts";
import { SdkError } from "./sdk-error.ts";
import { noteUnknownFields } from "./unknown-fields.ts";

/** On a definition by this key stands the version of its shape, so that a loader knows it from any copy of the package. */
const brand = Symbol.for("unacked.observer-definition");
const shapeVersion = 1;

export const typePattern = /^[A-Za-z0-9._-]{1,64}$/;

/** What observers of a type need of the process in which they run; see docs/isolation.md. */
export type Isolation = {
  /** So many at most in one process, and none of other types: 1 gives each a process of its own. Default: any number, of all types. */
  readonly runsPerSlot?: number;
  /** What such a process may take, in MiB of memory that is its own; at least 32. Default: the service's `SLOT_MEMORY_MB`. */
  readonly memoryMb?: number;
};

/**
 * How long a handler may have no beat, in ms from 1,000 up: neither an emit nor `ctx.alive()`. Time in which an emit waits for the broker
 * does not count. What an observer says for itself stands instead of this.
 */
export type Silence = {
  /** Then it is marked as silent, and warned of. */
  readonly warnAfterMs?: number | undefined;
  /** Then its attempt fails with a `SilentError`, and the retry policy answers. */
  readonly restartAfterMs?: number | undefined;
};
/**
 * How a handler that runs takes new params: from now on `ctx.params` are these · begin again with them · it runs on as it is, and this
 * is why.
 */
export type UpdateAnswer = "applied" | "restart" | { readonly rejected: string };

/** When a handler starts: when its message arrives, manager or no manager · or when a manager has admitted its run. */
export type StartMode = "at-once" | "admitted";

/**
 * What the handler of a type gets: {@link ObserverContext}; with `start: "admitted"` or `onUpdate` {@link AdmittedContext} besides, with a
 * `checkpoint` {@link CheckpointContext}.
 */
export type ContextOf<S extends z.ZodType, M extends StartMode, C extends z.ZodType> = ObserverContext<z.output<S>> &
  ([C] extends [never] ? ("at-once" extends M ? unknown : AdmittedContext) : CheckpointContext<z.output<C>, z.input<C>>);

/**
 * What `defineObserver` is given.
 *
 * @typeParam S the schema of `params`
 * @typeParam M `start`
 * @typeParam C the schema of `checkpoint`
 */
export type ObserverDraft<S extends z.ZodType, M extends StartMode = "at-once", C extends z.ZodType = never> = {
  /** The name under which observers of this type are created: 1–64 of `A–Z a–z 0–9 . _ -`, unique on a service. */
  readonly type: string;
  /** One or two sentences for people who choose a type from a list. Default: none. */
  readonly description?: string;
  /** Checks the params of an observer; its `.describe()` texts and limits are shown where params are filled in. */
  readonly params: S;
  /** What it needs of its process. Default: nothing special. */
  readonly isolation?: Isolation;
  /** How long it may be silent. Default: for ever. */
  readonly silence?: Silence;
  /**
   * `admitted`: before its handler starts, a run asks the manager, so that it never starts for a deleted observer, always has the newest
   * params, and has a fencing token (`ctx.fencingToken`). Price: it starts on another service only while a manager runs. Default `at-once`.
   */
  readonly start?: M;
  /**
   * Checks what its runs save of where they have got to, and are given at their start; such a type is always `admitted`. Default: it saves
   * nothing.
   */
  readonly checkpoint?: C;
  /**
   * Takes new params as `run` goes on: `"applied"`, and from then on `ctx.params` are these; `"restart"`, to begin again with them; or
   * `{ rejected: "why" }`, to run on as it is. Called in the process of the handler, beside it, one call at a time, with what the schema
   * makes of them; where it throws, or does not answer within 10 s (`UPDATE_TIMEOUT_MS`), the run begins again with them. Such a type is
   * always `admitted`. Default: every change of params is a new start.
   */
  onUpdate?(params: z.output<S>, ctx: ContextOf<S, "admitted", C>): UpdateAnswer | Promise<UpdateAnswer>;
  /**
   * The job. It goes on until `ctx.signal` aborts. Returning earlier completes the observer, throwing is a failed
   * attempt that the retry policy answers; how it settles after the abort does not matter, only that it does.
   */
  run(ctx: ContextOf<S, M, C>): Promise<void>;
};

/** An observer type: what `defineObserver` gives and a service loads. Frozen. `P` is the params after parsing. */
export type ObserverDefinition<P = unknown> = {
  /** Its name. */
  readonly type: string;
  /** For people. */
  readonly description?: string;
  /** Checks params. */
  readonly params: z.ZodType<P>;
  /** What it needs of its process. */
  readonly isolation?: Isolation;
  /** How long it may be silent. */
  readonly silence?: Silence;
  /** `admitted` too where the draft had a `checkpoint` or `onUpdate`. Absent: `at-once`. */
  readonly start?: StartMode;
  /** Checks what is saved. Absent: nothing is. */
  readonly checkpoint?: z.ZodType;
  /** Takes new params as it runs; a host calls it by `settleUpdate`. */
  onUpdate?(params: P, ctx: ObserverContext<P>): UpdateAnswer | Promise<UpdateAnswer>;
  /** The job; a host calls it by `settleRun`. */
  run(ctx: ObserverContext<P>): Promise<void>;
};

/** One with `onUpdate`, which makes it `admitted`: its `ctx.fencingToken` is there. All else is as below. */
export function defineObserver<S extends z.ZodType, C extends z.ZodType = never>(
  draft: ObserverDraft<S, "admitted", C> & { onUpdate: object },
): ObserverDefinition<z.output<S>>;
/**
 * Defines an observer type; the file's default export. Throws {@link SdkError} `invalid-type` or `invalid-definition`
 * naming the part that is wrong.
 *
 * @example
 * ```ts
 * import { defineObserver, sleep } from "@unacked/sdk";
 * import { z } from "zod";
 *
 * export default defineObserver({
 *   type: "heartbeat",
 *   description: "Emits a number that grows.",
 *   params: z.strictObject({ everyMs: z.int().min(10).default(1_000) }),
 *   async run({ params, signal, emit }) {
 *     for (let n = 1; await sleep(params.everyMs, signal); n += 1) await emit({ n });
 *   },
 * });
 * ```
 */
export function defineObserver<S extends z.ZodType, M extends StartMode = "at-once", C extends z.ZodType = never>(
  draft: ObserverDraft<S, M, C>,
): ObserverDefinition<z.output<S>>;
export function defineObserver<S extends z.ZodType, M extends StartMode = "at-once", C extends z.ZodType = never>(
  draft: ObserverDraft<S, M, C>,
): ObserverDefinition<z.output<S>> {
  if (typeof draft !== "object" || draft === null) {
    throw new SdkError("invalid-definition", "defineObserver takes an object with type, params and run");
  }
  const { type, description, params, isolation, silence, start, checkpoint, onUpdate, run } = draft;
  if (typeof type !== "string" || !typePattern.test(type)) {
    throw new SdkError(
      "invalid-type",
      `an observer's type is 1–64 of A–Z a–z 0–9 . _ - but this one is ${JSON.stringify(type)}`,
    );
  }
  const wrong = (what: string) => new SdkError("invalid-definition", `observer type ${type}: ${what}`);
  if (description !== undefined && typeof description !== "string") throw wrong("description is not a text");
  const wrongParams = schemaFlaw("params", params);
  if (wrongParams !== undefined) throw wrong(wrongParams);
  if (typeof run !== "function") throw wrong("run is not a function");
  if (start !== undefined && !START_MODES.has(start)) throw wrong('start is neither "at-once" nor "admitted"');
  const wrongCheckpoint = checkpoint === undefined ? undefined : schemaFlaw("checkpoint", checkpoint);
  if (wrongCheckpoint !== undefined) throw wrong(wrongCheckpoint);
  if (checkpoint !== undefined && start === "at-once") throw wrong("a type with a checkpoint cannot start at once");
  if (onUpdate !== undefined && typeof onUpdate !== "function") throw wrong("onUpdate is not a function");
  if (onUpdate !== undefined && start === "at-once") throw wrong("a type with onUpdate cannot start at once");
  const wrongIsolation = isolation === undefined ? undefined : isolationFlaw(isolation);
  if (wrongIsolation !== undefined) throw wrong(`isolation${wrongIsolation}`);
  const wrongSilence = silence === undefined ? undefined : silenceFlaw(silence);
  if (wrongSilence !== undefined) throw wrong(`silence${wrongSilence}`);

  const definition: ObserverDefinition<z.output<S>> = {
    type,
    ...(description !== undefined && { description }),
    params: params as z.ZodType<z.output<S>>,
    ...(isolation !== undefined && { isolation: Object.freeze({ ...isolation }) }),
    ...(silence !== undefined && { silence: Object.freeze({ ...silence }) }),
    ...(start !== undefined && { start }),
    ...(checkpoint !== undefined && { checkpoint, start: "admitted" as const }),
    ...(onUpdate !== undefined && {
      start: "admitted" as const,
      onUpdate: (next: z.output<S>, ctx: ObserverContext<z.output<S>>) =>
        onUpdate.call(draft, next, ctx as ContextOf<S, "admitted", C>),
    }),
    // A host gives what the type asks for.
    run: (ctx) => run.call(draft, ctx as ContextOf<S, M, C>),
  };
  noteUnknownFields(definition, draft, FIELDS);
  return Object.freeze(Object.defineProperty(definition, brand, { value: shapeVersion }));
}

const FIELDS: Record<keyof ObserverDraft<z.ZodType>, true> = {
  type: true,
  description: true,
  params: true,
  isolation: true,
  silence: true,
  start: true,
  checkpoint: true,
  onUpdate: true,
  run: true,
};

/** 24 days: no timer waits longer. */
const LONGEST_SILENCE_MS = 2_147_483_647;
const SILENCE: Ranges = { warnAfterMs: [1_000, LONGEST_SILENCE_MS], restartAfterMs: [1_000, LONGEST_SILENCE_MS] };

/** What is wrong with a type's `silence`, to be said behind that word; `undefined`: nothing. */
export function silenceFlaw(silence: Silence): string | undefined {
  const flaw = flawOf(silence, SILENCE, "{ warnAfterMs: 60_000 }");
  if (flaw !== undefined) return flaw;
  const { warnAfterMs = 0, restartAfterMs = Number.POSITIVE_INFINITY } = silence;
  return warnAfterMs > restartAfterMs ? ".restartAfterMs is less than warnAfterMs" : undefined;
}
const START_MODES: ReadonlySet<unknown> = new Set<StartMode>(["at-once", "admitted"]);

/** A million: more than any service runs, and a tebibyte. */
const MOST = 1_048_576;
const ISOLATION: Ranges = { runsPerSlot: [1, MOST], memoryMb: [32, MOST] };

/** What is wrong with what a type asks for by `isolation`, to be said behind that word; `undefined`: nothing. */
export function isolationFlaw(isolation: Isolation): string | undefined {
  return flawOf(isolation, ISOLATION, "{ runsPerSlot: 1 }");
}

type Ranges = Readonly<Record<string, readonly [least: number, most: number]>>;

function flawOf(given: object, ranges: Ranges, example: string): string | undefined {
  if (typeof given !== "object" || given === null) return ` is not an object, for example ${example}`;
  for (const [name, value] of Object.entries(given)) {
    const range = Object.hasOwn(ranges, name) ? ranges[name] : undefined;
    if (range === undefined) return ` has no ${name}: it takes ${Object.keys(ranges).join(" and ")}`;
    const [least, most] = range;
    if (value !== undefined && !(Number.isInteger(value) && value >= least && value <= most))
      return `.${name} is not a whole number from ${least} to ${most}`;
  }
  return undefined;
}

/** Whether a value came from `defineObserver`, of this or another copy of the package. */
export function isObserverDefinition(value: unknown): value is ObserverDefinition {
  return typeof value === "object" && value !== null && (value as Record<symbol, unknown>)[brand] === shapeVersion;
}

/** Why this part of a definition is no schema; a file in JavaScript, or with another zod, may have anything there. */
export function schemaFlaw(part: string, value: unknown): string | undefined {
  const isParser =
    typeof value === "object" && value !== null && typeof (value as { safeParse?: unknown }).safeParse === "function";
  if (isParser && "_zod" in value) return undefined;
  if (isParser && "_def" in value) return `${part} is a schema of zod 3: zod 4 is needed`;
  return `${part} is not a zod schema, for example z.object({})`;
}
