import type { z } from "zod";
import type { BackoffOptions } from "./backoff.ts";
import { type BatchContext, type BatchedTask, type BatchResult, batchOutcomes } from "./batch.ts";
import type { TaskCreator } from "./creations.ts";
import { type InputKinds, type InputsOf, inputsFlaw, type MissingInput } from "./inputs.ts";
import type { ObserverLog } from "./observer-context.ts";
import { type Isolation, isolationFlaw, schemaFlaw, typePattern } from "./observer-definition.ts";
import { SdkError } from "./sdk-error.ts";
import { noteUnknownFields } from "./unknown-fields.ts";

/** On a definition by this key stands the version of its shape, so that a loader knows it from any copy of the package. */
const brand = Symbol.for("unacked.task-definition");
const shapeVersion = 1;

/**
 * What happens when an attempt fails: the next follows after a delay that grows from one to the next ({@link BackoffOptions}; delays up to
 * 86,400,000 ms, a factor up to 100), after three failures 100 ms at least, after ten a second. Between attempts the task has no worker, and the next may run on any service.
 */
export type TaskRetry = {
  /** How often the handler is started before the task is Failed, 1 to 1,000. Default 10. A creator may say otherwise for one task. */
  readonly maxAttempts?: number;
} & Omit<BackoffOptions, "random">;

/**
 * Everything that the handler of a task gets.
 *
 * @typeParam P the params after parsing
 * @typeParam N the inputs
 */
export type TaskContext<P = unknown, N = Readonly<Record<string, unknown>>> = {
  /** As the type's schema gave them back (defaults filled in). */
  readonly params: P;
  /** Of a task of a flow: the results of those that it comes directly after, by their refs. */
  readonly inputs: N;
  /** Those of them that have none, as they failed or were cancelled and the flow goes on without (`onFailure: "continue"`). */
  readonly missing: Readonly<Record<string, MissingInput>>;
  /**
   * Aborts when the attempt has to end: the task was cancelled (`stopped`), its time is up or an error of it was caught by nobody
   * (`failed`, with the `cause`), its service is going down (`draining`) or may have lost it to another (`lease-lost`), it begins again
   * elsewhere (`restarted`), or was sent again, and another attempt counts (`superseded`); `signal.reason` is an `ObserverStopped` that
   * says which.
   */
  readonly signal: AbortSignal;
  /** The log of the attempt. */
  readonly log: ObserverLog;
  /** 1 the first time; counts failures, not interruptions. */
  readonly attempt: number;
  /** UUID; the same in every attempt: a key by which others can tell repeats of what this task does to them. */
  readonly taskId: string;
  /**
   * Ends this run without a failure: the task is Scheduled until then, and what was used up are no attempts. Throws, so that nothing
   * behind it is done; `return ctx.postpone(…)` says the same to the compiler. What the handler does after that is ignored.
   * @param when ms from the end of this run, or a Date; what is past is now; a year at most (else `invalid-option`)
   * @param reason shown with the task for as long as it waits
   */
  postpone(when: number | Date, reason?: string): never;
  /** Creates others, exactly if this attempt completes the task. */
  readonly tasks: TaskCreator;
};

/** Another way to do it, once the first has failed often enough. */
export type Emergency<P = unknown, R = unknown, N = Readonly<Record<string, unknown>>> = {
  /** From this attempt on it runs instead of `run`: from 2 to what `retry` allows. Interruptions are no attempts. */
  readonly fromAttempt: number;
  /** As `run`. Returning completes the task, marked as completed by this handler; throwing is a failed attempt as any. */
  run(ctx: TaskContext<P, N>): Promise<R>;
};

/** How many tasks one call takes, at most. */
const MAX_BATCH = 100;

/**
 * What `defineTask` is given: {@link TaskTraits}, and a handler of single tasks or one of batches.
 *
 * @typeParam S the schema of `params`
 * @typeParam O the schema of `output`
 * @typeParam N `inputs`
 */
export type TaskDraft<S extends z.ZodType, O extends z.ZodType, N extends InputKinds = InputKinds> = TaskTraits<S, O, N> &
  (TaskOneByOne<S, O, N> | TaskInBatches<S, O, N>);

/** What every type of tasks has. */
export type TaskTraits<S extends z.ZodType, O extends z.ZodType, N extends InputKinds> = {
  /** The name under which tasks of this type are created: 1–64 of `A–Z a–z 0–9 . _ -`, unique on a service, also among observers. */
  readonly type: string;
  /** One or two sentences for people who choose a type from a list. Default: none. */
  readonly description?: string;
  /** Checks the params of a task; its `.describe()` texts and limits are shown where params are filled in. */
  readonly params: S;
  /**
   * Checks what the handler returns; at most 64 KiB as JSON, as which others are given it: where JSON would say another than has passed, as of
   * a Date, the task fails (`z.date().transform((at) => at.toISOString())` makes a text of one). Absent: any JSON, or nothing.
   */
  readonly output?: O;
  /**
   * What it is given in a flow, by ref: `{ fetch: fetchTask }`. Then `ctx.inputs.fetch` has the type of that task's `output`, and an
   * attempt without it fails for good, unless it is `{ task: fetchTask, optional: true }`.
   */
  readonly inputs?: N;
  /** What happens when an attempt fails. Default: ten attempts, with delays from 1 s that double up to 5 min. */
  readonly retry?: TaskRetry;
  /** An attempt (of a batch: a call) that takes longer is aborted, and has failed; its slot is ended if it does not settle. Default: any time. */
  readonly timeoutMs?: number;
  /** What it needs of its process. Default: nothing special. */
  readonly isolation?: Isolation;
};

/** The handler of a type that takes tasks one by one. */
export type TaskOneByOne<S extends z.ZodType, O extends z.ZodType, N extends InputKinds> = {
  /**
   * The job. Returning completes the task, throwing is a failed attempt that the retry policy answers. It may run more than once
   * (its process died just before its end was written down), so what it does to others should bear a repeat.
   */
  run(ctx: TaskContext<z.output<S>, InputsOf<N>>): Promise<z.input<O>>;
  /** Runs instead when `run` has failed often enough: a slower way, say, or a note to somebody. */
  readonly emergency?: Emergency<z.output<S>, z.input<O>, InputsOf<N>>;
  /** Of a type that takes batches. */
  readonly batch?: undefined;
  /** Of a type that takes batches. */
  readonly runBatch?: undefined;
};

/** The handler of a type that takes tasks in batches. */
export type TaskInBatches<S extends z.ZodType, O extends z.ZodType, N extends InputKinds = InputKinds> = {
  /** So many tasks at most are given to one call, 1 to 100. What waits goes at once: no call waits until it is full. */
  readonly batch: { readonly size: number };
  /**
   * The job, of many. One result for each task; one that is left out has failed, and if it throws all have. May be given one task alone:
   * there is no other, or what it was in before has ended its slot.
   */
  runBatch(
    tasks: readonly BatchedTask<z.output<S>, InputsOf<N>>[],
    ctx: BatchContext,
  ): Promise<readonly BatchResult<z.input<O>>[]>;
  /** Of a type that takes tasks one by one. */
  readonly run?: undefined;
  /** Of a type that takes tasks one by one. */
  readonly emergency?: undefined;
};

/**
 * A task type: what `defineTask` gives and a service loads. Frozen. `I` is what a creator gives as params (before defaults), `T` what
 * its result is when it has been checked, `N` what it is given in a flow: the client's types come from them.
 */
export type TaskDefinition<P = unknown, R = unknown, I = unknown, T = unknown, N = unknown> = {
  /** Its name. */
  readonly type: string;
  /** For people. */
  readonly description?: string;
  /** Checks params. */
  readonly params: z.ZodType<P, I>;
  /** Checks results. Absent: any JSON. */
  readonly output?: z.ZodType<T>;
  /** What it is given in a flow, by ref. Absent: whatever there is. */
  readonly inputs?: N;
  /** Whole: defaults are filled in. */
  readonly retry: { readonly [Key in keyof TaskRetry]-?: number };
  /** After which an attempt, or the call of a batch, is aborted. Absent: never. */
  readonly timeoutMs?: number;
  /** What it needs of its process. */
  readonly isolation?: Isolation;
  /** Of one task; also where the type takes batches. */
  run(ctx: TaskContext<P>): Promise<R>;
  /** Another handler, from some attempt on. */
  readonly emergency?: Emergency<P, R>;
  /** So many tasks at most are given to one call. Absent: it takes them one by one. */
  readonly batch?: { readonly size: number };
  /** Of many tasks; there if `batch` is. */
  runBatch?(tasks: readonly BatchedTask<P>[], ctx: BatchContext): Promise<unknown>;
};

const DEFAULT_RETRY = { maxAttempts: 10, initialMs: 1_000, factor: 2, maxMs: 300_000, jitter: 0.2 };
const RANGES: Record<keyof typeof DEFAULT_RETRY, [number, number]> = {
  maxAttempts: [1, 1_000],
  initialMs: [0, 86_400_000],
  factor: [1, 100],
  maxMs: [0, 86_400_000],
  jitter: [0, 1],
};
const LONGEST_MS = 2_147_483_647;

/**
 * Defines a task type; the file's default export. Throws {@link SdkError} `invalid-type` or `invalid-definition` naming the part
 * that is wrong.
 *
 * @example
 * ```ts
 * import { defineTask } from "@unacked/sdk";
 * import { z } from "zod";
 *
 * export default defineTask({
 *   type: "page-size",
 *   params: z.strictObject({ url: z.url() }),
 *   output: z.strictObject({ bytes: z.int() }),
 *   retry: { maxAttempts: 5 },
 *   timeoutMs: 30_000,
 *   async run({ params, signal }) {
 *     const response = await fetch(params.url, { signal });
 *     return { bytes: (await response.arrayBuffer()).byteLength };
 *   },
 * });
 * ```
 */
export function defineTask<S extends z.ZodType, O extends z.ZodType = z.ZodType, N extends InputKinds = InputKinds>(
  draft: TaskDraft<S, O, N>,
): TaskDefinition<z.output<S>, z.input<O>, z.input<S>, z.output<O>, N> {
  if (typeof draft !== "object" || draft === null)
    throw new SdkError("invalid-definition", "defineTask takes an object with type, params and run");
  const { type, description, params, output, inputs, retry = {}, timeoutMs, isolation, emergency, batch } = draft;
  if (typeof type !== "string" || !typePattern.test(type))
    throw new SdkError("invalid-type", `a task's type is 1–64 of A–Z a–z 0–9 . _ - but this one is ${JSON.stringify(type)}`);
  const wrong = (what: string) => new SdkError("invalid-definition", `task type ${type}: ${what}`);
  if (description !== undefined && typeof description !== "string") throw wrong("description is not a text");
  const wrongSchema = schemaFlaw("params", params) ?? (output === undefined ? undefined : schemaFlaw("output", output));
  if (wrongSchema !== undefined) throw wrong(wrongSchema);
  const wrongInputs = inputs === undefined ? undefined : inputsFlaw(inputs);
  if (wrongInputs !== undefined) throw wrong(wrongInputs);
  const wrongHandler = handlerFlaw(draft);
  if (wrongHandler !== undefined) throw wrong(wrongHandler);
  const flaw = flawOf(retry);
  if (flaw !== undefined) throw wrong(flaw);
  const wrongIsolation = isolation === undefined ? undefined : isolationFlaw(isolation);
  if (wrongIsolation !== undefined) throw wrong(`isolation${wrongIsolation}`);
  if (timeoutMs !== undefined && !isWithin(timeoutMs, 1, LONGEST_MS))
    throw wrong(`timeoutMs is not a number from 1 to ${LONGEST_MS}`);
  const maxAttempts = retry.maxAttempts ?? DEFAULT_RETRY.maxAttempts;
  if (emergency !== undefined && !isEmergency(emergency, maxAttempts))
    throw wrong(`emergency is not { fromAttempt: a whole number from 2 to ${maxAttempts} (its attempts), run }`);

  // What was declared is there, or the handler is not entered (inputsOf).
  type Given = TaskContext<z.output<S>, InputsOf<N>>;
  const definition: TaskDefinition<z.output<S>, z.input<O>, z.input<S>, z.output<O>, N> = {
    type,
    ...(description !== undefined && { description }),
    params: params as z.ZodType<z.output<S>, z.input<S>>,
    ...(output !== undefined && { output: output as z.ZodType<z.output<O>> }),
    ...(inputs !== undefined && { inputs: Object.freeze({ ...inputs }) }),
    retry: Object.freeze({ ...DEFAULT_RETRY, ...retry }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(isolation !== undefined && { isolation: Object.freeze({ ...isolation }) }),
    ...(draft.runBatch === undefined ? { run: (ctx) => draft.run(ctx as Given) } : inBatches(draft)),
    ...(batch !== undefined && { batch: Object.freeze({ size: batch.size }) }),
    ...(emergency !== undefined && {
      emergency: Object.freeze({ fromAttempt: emergency.fromAttempt, run: (ctx) => emergency.run(ctx as Given) }),
    }),
  };
  noteUnknownFields(definition, draft, FIELDS);
  return Object.freeze(Object.defineProperty(definition, brand, { value: shapeVersion }));
}

const FIELDS: Record<keyof TaskDraft<z.ZodType, z.ZodType>, true> = {
  type: true,
  description: true,
  params: true,
  output: true,
  inputs: true,
  retry: true,
  timeoutMs: true,
  isolation: true,
  run: true,
  emergency: true,
  batch: true,
  runBatch: true,
};

function flawOf(retry: TaskRetry): string | undefined {
  if (typeof retry !== "object" || retry === null) return "retry is not an object, for example { maxAttempts: 5 }";
  for (const [name, value] of Object.entries(retry)) {
    const range = Object.hasOwn(RANGES, name) ? RANGES[name as keyof typeof RANGES] : undefined;
    if (range === undefined) return `retry has no ${name}: it takes ${Object.keys(RANGES).join(", ")}`;
    if (!isWithin(value, ...range)) return `retry.${name} is not a number from ${range[0]} to ${range[1]}`;
  }
  if (retry.maxAttempts !== undefined && !Number.isInteger(retry.maxAttempts))
    return "retry.maxAttempts is not a whole number";
  return undefined;
}

/** Beside the others, as a file in JavaScript may say anything. */
function handlerFlaw(draft: object): string | undefined {
  const { run, emergency, batch, runBatch } = draft as { [key: string]: unknown; batch?: { size?: unknown } | null };
  if (batch === undefined && runBatch === undefined) return typeof run === "function" ? undefined : "run is not a function";
  if (typeof runBatch !== "function") return "runBatch is not a function";
  if (run !== undefined || emergency !== undefined) return "runBatch goes with neither run nor emergency";
  const size = typeof batch === "object" ? batch?.size : undefined;
  if (!Number.isInteger(size) || !isWithin(size, 1, MAX_BATCH))
    return `batch is not { size: a whole number from 1 to ${MAX_BATCH} }`;
  const strange = Object.keys(batch ?? {}).find((name) => name !== "size");
  return strange === undefined ? undefined : `batch has no ${strange}: it takes size`;
}

/** Of one task alone: a batch of one. */
function inBatches<P, R>(draft: {
  runBatch(tasks: readonly BatchedTask<P>[], ctx: BatchContext): Promise<unknown>;
}): Pick<TaskDefinition<P, R>, "runBatch" | "run"> {
  return {
    runBatch: (tasks, ctx) => draft.runBatch(tasks, ctx),
    async run({ params, inputs, missing, attempt, taskId, signal, log }) {
      const task = { params, inputs, missing, attempt, taskId, signal };
      const returned = await draft.runBatch([task], { signal, log });
      const strange = (id: string) =>
        log.warn("runBatch returned a result for a task that it was not given", { taskId: id });
      const outcome = batchOutcomes([task], returned, strange).get(taskId);
      if (outcome !== undefined && "error" in outcome) throw outcome.error;
      return outcome?.output as R;
    },
  };
}

const isEmergency = (emergency: unknown, maxAttempts: number): boolean => {
  if (typeof emergency !== "object" || emergency === null) return false;
  const { fromAttempt, run } = emergency as Partial<Emergency>;
  return Number.isInteger(fromAttempt) && isWithin(fromAttempt, 2, maxAttempts) && typeof run === "function";
};

/** Who does this attempt (from 1): the type itself, or from `fromAttempt` on its emergency handler. */
export function handlerOf<P, R>(definition: TaskDefinition<P, R>, attempt: number): Pick<TaskDefinition<P, R>, "run"> {
  return isEmergencyAttempt(definition, attempt) ? (definition.emergency ?? definition) : definition;
}

/** Whether the emergency handler does this attempt (from 1). */
export function isEmergencyAttempt(definition: Pick<TaskDefinition, "emergency">, attempt: number): boolean {
  return definition.emergency !== undefined && attempt >= definition.emergency.fromAttempt;
}

const isWithin = (value: unknown, least: number, most: number): boolean =>
  typeof value === "number" && value >= least && value <= most;

/** Whether a value came from `defineTask`, of this or another copy of the package. */
export function isTaskDefinition(value: unknown): value is TaskDefinition {
  return typeof value === "object" && value !== null && (value as Record<symbol, unknown>)[brand] === shapeVersion;
}
