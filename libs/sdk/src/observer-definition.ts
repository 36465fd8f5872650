import type { z } from "zod";
import type { ObserverContext } from "./observer-context.ts";
import { SdkError } from "./sdk-error.ts";

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

/** What `defineObserver` is given. */
export type ObserverDraft<S extends z.ZodType> = {
  /** The name under which observers of this type are created: 1–64 of `A–Z a–z 0–9 . _ -`, unique on a service. */
  readonly type: string;
  /** One or two sentences for people who choose a type from a list. */
  readonly description?: string;
  /** Checks the params of an observer; its `.describe()` texts and limits are shown where params are filled in. */
  readonly params: S;
  readonly isolation?: Isolation;
  /**
   * The job. It goes on until `ctx.signal` aborts. Returning earlier completes the observer, throwing is a failed
   * attempt that the retry policy answers; how it settles after the abort does not matter, only that it does.
   */
  run(ctx: ObserverContext<z.output<S>>): Promise<void>;
};

/** An observer type: what `defineObserver` gives and a service loads. Frozen. `P` is the params after parsing. */
export type ObserverDefinition<P = unknown> = {
  readonly type: string;
  readonly description?: string;
  readonly params: z.ZodType<P>;
  readonly isolation?: Isolation;
  run(ctx: ObserverContext<P>): Promise<void>;
};

/**
 * Defines an observer type; the file's default export. Throws {@link SdkError} `invalid-type` or `invalid-definition`
 * naming the part that is wrong.
 */
export function defineObserver<S extends z.ZodType>(draft: ObserverDraft<S>): ObserverDefinition<z.output<S>> {
  if (typeof draft !== "object" || draft === null) {
    throw new SdkError("invalid-definition", "defineObserver takes an object with type, params and run");
  }
  const { type, description, params, isolation, run } = draft;
  if (typeof type !== "string" || !typePattern.test(type)) {
    throw new SdkError(
      "invalid-type",
      `an observer's type is 1–64 of A–Z a–z 0–9 . _ - but this one is ${JSON.stringify(type)}`,
    );
  }
  const wrong = (what: string) => new SdkError("invalid-definition", `observer type ${type}: ${what}`);
  if (description !== undefined && typeof description !== "string") throw wrong("description is not a text");
  if (!isSchema(params)) throw wrong("params is not a zod schema, for example z.object({})");
  if (typeof run !== "function") throw wrong("run is not a function");
  const wrongIsolation = isolation === undefined ? undefined : isolationFlaw(isolation);
  if (wrongIsolation !== undefined) throw wrong(`isolation${wrongIsolation}`);

  const definition: ObserverDefinition<z.output<S>> = {
    type,
    ...(description !== undefined && { description }),
    params: params as z.ZodType<z.output<S>>,
    ...(isolation !== undefined && { isolation: Object.freeze({ ...isolation }) }),
    run: (ctx) => run.call(draft, ctx),
  };
  return Object.freeze(Object.defineProperty(definition, brand, { value: shapeVersion }));
}

const LEAST = { runsPerSlot: 1, memoryMb: 32 };

/** Behind the word `isolation`: what is wrong with it. */
export function isolationFlaw(isolation: Isolation): string | undefined {
  if (typeof isolation !== "object" || isolation === null) return " is not an object, for example { runsPerSlot: 1 }";
  for (const [name, value] of Object.entries(isolation)) {
    if (!(name in LEAST)) return ` has no ${name}: it takes ${Object.keys(LEAST).join(" and ")}`;
    const least = LEAST[name as keyof typeof LEAST];
    if (value !== undefined && !(Number.isInteger(value) && value >= least))
      return `.${name} is not a whole number from ${least}`;
  }
  return undefined;
}

/** Whether a value came from `defineObserver`, of this or another copy of the package. */
export function isObserverDefinition(value: unknown): value is ObserverDefinition {
  return typeof value === "object" && value !== null && (value as Record<symbol, unknown>)[brand] === shapeVersion;
}

export function isSchema(value: unknown): value is z.ZodType {
  return (
    typeof value === "object" &&
    value !== null &&
    "_zod" in value &&
    typeof (value as { safeParse?: unknown }).safeParse === "function"
  );
}
