import { z } from "zod";
import { Labels, PoolName } from "./ids.ts";
import { RetryPolicy } from "./retry.ts";
import { Silence } from "./silence.ts";

const params = z.unknown().describe("any JSON value; checked by the type's schema where a live service knows it");

/**
 * What a client wants of an observer and may change while it lives; each field is replaced as a whole. One more is a line here, and
 * what the compiler names then: a column of the books, a default at its creation.
 * `by`: what a change of it takes. `new-message`: its run is stopped, and sent again so, unless its type takes it as it runs ·
 * `word`: its run is told, which goes on · `at-once`: nothing.
 */
export const SPEC_FIELDS = {
  params: { schema: params, by: "new-message" },
  labels: { schema: Labels, by: "at-once" },
  retry: { schema: RetryPolicy, by: "new-message" },
  pool: { schema: PoolName, by: "new-message" },
  silence: { schema: Silence.nullable(), by: "word" },
} as const satisfies Record<string, { schema: z.ZodType; by: "new-message" | "word" | "at-once" }>;

export type SpecField = keyof typeof SPEC_FIELDS;
export const SPEC_FIELD_NAMES = Object.keys(SPEC_FIELDS) as [SpecField, ...SpecField[]];

/** The spec as the database has it. */
export type ObserverSpec = { [Field in SpecField]: z.output<(typeof SPEC_FIELDS)[Field]["schema"]> };

const fields = Object.fromEntries(SPEC_FIELD_NAMES.map((name) => [name, SPEC_FIELDS[name].schema.optional()])) as {
  [Field in SpecField]: z.ZodOptional<(typeof SPEC_FIELDS)[Field]["schema"]>;
};

/** PATCH /observers/{ref}. A field that is not given stays; a given one replaces the old value as a whole. */
export const ChangeObserver = z.strictObject(fields).meta({ id: "ChangeObserver" });
export type ChangeObserver = z.infer<typeof ChangeObserver>;

/** The spec of a whole definition: what it leaves out has the default of a create. */
export const specOf = ({
  params,
  labels,
  retry,
  pool,
  silence = null,
}: Omit<ObserverSpec, "silence"> & { silence?: ObserverSpec["silence"] | undefined }): ObserverSpec => ({
  params,
  labels,
  retry,
  pool,
  silence,
});

/** Counts the versions of an observer's spec. */
export const SpecVersion = z.int().min(1).max(2_147_483_647);
