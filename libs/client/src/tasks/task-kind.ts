import type { z } from "zod";

/**
 * A task type with the types of what it takes and gives. What `defineTask` gives is one; only its name is used. Where its file is not
 * to be loaded, as in a browser: `create<typeof resize>("resize", …)`, with `import type resize from …`.
 */
export interface TaskKind {
  readonly type: string;
  readonly params?: z.ZodType;
  readonly output?: z.ZodType;
}

/** The params that a creator gives; those with a default may be left out. */
export type ParamsOf<Kind> = Kind extends { readonly params: infer Schema extends z.ZodType } ? z.input<Schema> : unknown;

/** The task's output as JSON carries it: no output is `null`. */
export type OutputOf<Kind> = Kind extends { readonly output?: infer Schema }
  ? NonNullable<Schema> extends z.ZodType
    ? Kept<z.output<NonNullable<Schema>>>
    : unknown
  : unknown;

type Kept<Output> = undefined extends Output ? Exclude<Output, void> | null : Output;

export const typeOf = (kind: TaskKind | string): string => (typeof kind === "string" ? kind : kind.type);
