import { z } from "zod";

/** What else is known of a setting: `secret` values are never shown; `orFile` adds `<NAME>_FILE`, a path to read it from. */
export type SettingTraits = { readonly secret?: boolean; readonly orFile?: boolean };

const traits = z.registry<SettingTraits>();

/** Marks a setting. Call it last: zod's methods return copies that do not carry the mark. */
export function withTraits<S extends z.ZodType>(schema: S, marks: SettingTraits): S {
  traits.add(schema, marks);
  return schema;
}

export const traitsOf = (schema: z.ZodType): SettingTraits => traits.get(schema) ?? {};

/** A whole number, given as a text (by the environment) or as a number (by a file); nothing else is taken. */
export const wholeNumber = (min: number, max: number): z.ZodType<number, unknown> =>
  numberWithin(min, max, `must be a whole number from ${min} to ${max}`);

/** Such a number, or the word `auto`. */
export function wholeNumberOrAuto(min: number, max: number): z.ZodType<number | "auto", unknown> {
  const message = `must be a whole number from ${min} to ${max}, or auto`;
  // zod reports the branch that got furthest, if it is the only one, so both have the message.
  return z.union([z.literal("auto"), numberWithin(min, max, message)], { error: message });
}

/** A number that need not be whole. */
export function anyNumber(min: number, max: number): z.ZodType<number, unknown> {
  const message = `must be a number from ${min} to ${max}`;
  return z.preprocess(numberFromText, z.number({ error: message }).min(min, message).max(max, message));
}

/** `true` or `false`. */
export function flag(): z.ZodType<boolean, unknown> {
  const fromText = (value: unknown) => (value === "true" ? true : value === "false" ? false : value);
  return z.preprocess(fromText, z.boolean({ error: "must be true or false" }));
}

/** One of a few words. */
export function oneOf<const W extends readonly [string, ...string[]]>(words: W): z.ZodType<W[number]> {
  return z.enum(words, { error: `must be one of ${words.join(", ")}` });
}

/** A list of texts, separated by commas, or in a file also as a list. */
export function textList(entry: z.ZodType<string>): z.ZodType<string[], unknown> {
  const split = (value: unknown) => (typeof value === "string" ? value.split(",").map((part) => part.trim()) : value);
  return z.preprocess(split, z.array(entry, { error: "must be a list, separated by commas" }).min(1, "must not be empty"));
}

/** A text that is not empty. A number in a file is taken as the text it was written as. */
export function text(): z.ZodType<string, unknown> {
  const fromNumber = (value: unknown) => (typeof value === "number" ? String(value) : value);
  return z.preprocess(fromNumber, z.string({ error: "must be text" }).min(1, "must not be empty"));
}

function numberWithin(min: number, max: number, message: string): z.ZodType<number, unknown> {
  return z.preprocess(numberFromText, z.int({ error: message }).min(min, message).max(max, message));
}

function numberFromText(value: unknown): unknown {
  if (typeof value !== "string") return value;
  return /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : value;
}
