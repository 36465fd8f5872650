import type { z } from "zod";
import { readText } from "./read-text.ts";

/** One thing that is wrong with params. */
export type ParamsIssue = {
  /** Where: a JSON pointer (RFC 6901); `""` is the whole. */
  readonly pointer: string;
  /** What, for people. */
  readonly message: string;
};

/** Params after parsing, or all that is wrong with them. */
export type ParamsResult<P> =
  | { readonly ok: true; readonly params: P }
  | { readonly ok: false; readonly issues: readonly ParamsIssue[] };

/** Checks a value by the type's schema. Never throws: a schema that breaks on the value is an issue at `""`. */
export function parseParams<P>(definition: { readonly params: z.ZodType<P> }, value: unknown): ParamsResult<P> {
  return parseBy(definition.params, value, "param");
}

/**
 * The same of what somebody here has, as a service would be given it: by JSON, in which a Date is a text, NaN is null, and what is undefined
 * is not there.
 */
export function parseSent<P>(definition: { readonly params: z.ZodType<P> }, value: unknown): ParamsResult<P> {
  try {
    const json = JSON.stringify(value) as string | undefined;
    return parseParams(definition, json === undefined ? undefined : JSON.parse(json));
  } catch (error) {
    return { ok: false, issues: [{ pointer: "", message: `no JSON can say this: ${readText(() => error)}` }] };
  }
}

/** @param part what an unknown key would have been */
export function parseBy<P>(schema: z.ZodType<P>, value: unknown, part: string): ParamsResult<P> {
  try {
    const result = schema.safeParse(value);
    if (result.success) return { ok: true, params: result.data };
    return { ok: false, issues: issuesIn(result.error, part) };
  } catch (error) {
    const why = readText(() => (error instanceof Error ? error.message : error));
    return { ok: false, issues: [{ pointer: "", message: `the schema could not check this: ${why}` }] };
  }
}

/** The issues as one line for a log or an error: `/movePercent: expected …; /url: …`. */
export function paramsIssuesText(issues: readonly ParamsIssue[]): string {
  return issuesText(issues, "params");
}

/** @param whole what the issue at `""` is of */
export function issuesText(issues: readonly ParamsIssue[], whole: string): string {
  return issues.map(({ pointer, message }) => `${pointer || whole}: ${message}`).join("; ");
}

/** All that a schema found wrong. @param part what an unknown key would have been */
export const issuesIn = ({ issues }: z.core.$ZodError, part: string): ParamsIssue[] =>
  issues.flatMap((issue) => issuesOf(issue, part));

/** zod names unknown keys on their parent; a form that marks fields needs each key's own place. Why a key is wrong it keeps inside. */
function issuesOf(issue: z.core.$ZodIssue, part: string): ParamsIssue[] {
  if (issue.code === "invalid_key") {
    const why = issue.issues.map(textOf).join(", ");
    return [{ pointer: pointerTo(issue.path), message: `in the key: ${why || textOf(issue)}` }];
  }
  if (issue.code !== "unrecognized_keys") return [{ pointer: pointerTo(issue.path), message: messageOf(issue) }];
  return issue.keys.map((key) => ({
    pointer: pointerTo([...issue.path, key]),
    message: `there is no such ${part}`,
  }));
}

/** An author's check may give a message that is no text. */
const textOf = (issue: z.core.$ZodIssue): string => readText(() => issue.message);

/** zod says "Invalid URL" of a right one with a wrong protocol or host too, and beside it which part it does not take. */
function messageOf(issue: z.core.$ZodIssue): string {
  if (issue.code !== "invalid_format" || !("note" in issue)) return textOf(issue);
  const { note } = issue;
  return `${textOf(issue)} (${note}${issue.pattern === undefined ? "" : `: must match ${issue.pattern}`})`;
}

/** A JSON pointer (RFC 6901). */
export function pointerTo(path: readonly PropertyKey[]): string {
  return path.map((key) => `/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}
