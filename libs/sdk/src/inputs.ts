import type { z } from "zod";
import { SdkError } from "./sdk-error.ts";

/** What `defineTask` gave: the result of such a task is an input of another. */
export type InputTask = {
  /** The name of its type. */
  readonly type: string;
  /** What its result passes; the input has that type. Absent: `unknown`. */
  readonly output?: z.ZodType;
};

/** What a task is to be given by one that it comes after in a flow: its type; `optional` where it can do without. */
export type InputKind = InputTask | { readonly task: InputTask; readonly optional: true };

/** What a task is to be given, by ref: as the flow names the tasks that it comes after. */
export type InputKinds = Readonly<Record<string, InputKind>>;

/** What is kept of a result of this type, and given to others: nothing is `null`, as JSON has no `undefined`. */
export type KeptOf<T> = undefined extends T ? Exclude<T, void> | null : T;

type ResultOf<Kind> = Kind extends { readonly output?: infer Schema }
  ? NonNullable<Schema> extends z.ZodType
    ? KeptOf<z.output<NonNullable<Schema>>>
    : unknown
  : unknown;

/**
 * What `ctx.inputs` is: where a type declares its `inputs`, the result of each by its ref, `undefined` too where it is optional; else
 * whatever there is, by ref, as `unknown`.
 */
export type InputsOf<Kinds> = string extends keyof Kinds
  ? Readonly<Record<string, unknown>>
  : {
      readonly [Ref in keyof Kinds]: Kinds[Ref] extends { readonly task: infer Task; readonly optional: true }
        ? ResultOf<Task> | undefined
        : ResultOf<Kinds[Ref]>;
    };

/** An input that is not there: the task has failed, or was cancelled, and its `onFailure` is `continue`. */
export type MissingInput = {
  /** How it ended. */
  readonly status: "Failed" | "Cancelled";
  /** With which its last attempt failed. */
  readonly error?: { readonly name: string; readonly message: string };
};

/** An input as it comes to a host: what another task of the flow has come to. */
export type GivenInput = {
  /** As the flow names that task. */
  readonly ref: string;
  /** How it ended. */
  readonly status: "Completed" | MissingInput["status"];
  /** Its result as JSON, where it has completed; absent: `null`. */
  readonly output?: string | undefined;
  /** With which it has failed. */
  readonly error?: MissingInput["error"] | undefined;
};

/** What a handler gets of its inputs: `ctx.inputs` and `ctx.missing`. */
export type Inputs = {
  /** Results by ref, parsed. */
  readonly inputs: Readonly<Record<string, unknown>>;
  /** Those that have none, by ref. */
  readonly missing: Readonly<Record<string, MissingInput>>;
};

/**
 * What a handler gets of what its task comes after, from `given`, as it came. Throws `missing-input` where one is not there that its type cannot do without: to try
 * again would not help.
 */
export function inputsOf(definition: { readonly inputs?: unknown }, given: readonly GivenInput[] | undefined = []): Inputs {
  const inputs = bare<unknown>();
  const missing = bare<MissingInput>();
  for (const { ref, status, output, error } of given)
    if (status === "Completed") inputs[ref] = output === undefined ? null : JSON.parse(output);
    else missing[ref] = { status, ...(error !== undefined && { error }) };
  for (const [ref, kind] of Object.entries((definition.inputs ?? {}) as InputKinds)) {
    if (ref in inputs || isOptional(kind)) continue;
    const why = missing[ref] === undefined ? "its task comes after no such task" : `that is ${missing[ref].status}`;
    throw new SdkError("missing-input", `the input "${ref}" is not there: ${why}`);
  }
  return { inputs: Object.freeze(inputs), missing: Object.freeze(missing) };
}

/** A file in JavaScript may say `optional: false`. */
const isOptional = (kind: InputKind): boolean => "optional" in kind && (kind.optional as boolean);

/** Refs are whatever somebody wrote. */
const bare = <Value>(): Record<string, Value> => Object.create(null) as Record<string, Value>;

/** What is wrong with `inputs` of a definition; a file in JavaScript may say anything. */
export function inputsFlaw(inputs: unknown): string | undefined {
  if (typeof inputs !== "object" || inputs === null) return "inputs is not an object, for example { fetch: fetchTask }";
  for (const [ref, kind] of Object.entries(inputs)) {
    const task = typeof kind === "object" && kind !== null && "task" in kind ? kind.task : kind;
    if (typeof (task as { type?: unknown } | null)?.type !== "string")
      return `inputs.${ref} is not what defineTask gave, nor { task, optional: true }`;
  }
  return undefined;
}
