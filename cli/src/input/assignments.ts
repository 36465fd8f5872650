import { type Document, isMap, isScalar, parseDocument } from "yaml";
import { usageFailure } from "../failure.ts";
import { yamlValue } from "./exact-numbers.ts";

export interface Assignment {
  path: (string | number)[];
  value: unknown;
}

/**
 * `params.everyMs=500`, `labels.team=a`, `retry.delaysMs[0]=10`, `params.headers.a\.b=x`. The value is read as YAML, so that
 * `5` is a number, `"5"` a text and `[1, 2]` a list; a text without quotes, and what is under `labels`, stays as it is given. `prefix`
 * goes before the path: that of `--param` is `params`.
 */
export function parseAssignment(text: string, prefix: string[] = []): Assignment {
  const [, key, given] = /^((?:\\.|[^=\\])+)=(.*)$/s.exec(text) ?? [];
  if (key === undefined || given === undefined)
    throw usageFailure(`"${text}" is not of the form path=value`, "Write it like everyMs=500.");
  const path = [...prefix, ...parsePath(key, text)];
  return { path, value: path[0] === "labels" ? given : parseValue(given, text) };
}

function parsePath(key: string, text: string): (string | number)[] {
  const path = key.match(/(?:\\.|[^.\\])+|(?<=^|\.)(?=\.|$)/g)?.flatMap((segment) => parseSegment(segment, text));
  return path ?? [];
}

/** Splits `delaysMs[0]` into two steps. A backslash makes the next character literal. */
function parseSegment(segment: string, text: string): (string | number)[] {
  const [, name = "", indexes = ""] = /^((?:\\.|[^[\\])*)((?:\[\d{1,6}\])*)$/.exec(segment) ?? [];
  const plain = name.replaceAll(/\\(.)/g, "$1");
  if (plain === "")
    throw usageFailure(`"${text}": a step of the path has no name`, "Write it as params.list[0].name=value.");
  if (plain === "__proto__") throw usageFailure(`"${text}": __proto__ cannot be set`);
  return [plain, ...[...indexes.matchAll(/\d+/g)].map(([index]) => Number(index))];
}

function parseValue(given: string, text: string): unknown {
  try {
    return readValue(given);
  } catch (error) {
    const [firstLine] = (error as Error).message.split("\n");
    throw usageFailure(
      `"${text}": the value is not valid: ${firstLine}`,
      "Put a text with special characters, or an id of many digits, in quotes.",
    );
  }
}

function readValue(given: string): unknown {
  const trimmed = given.trim();
  if (trimmed.startsWith("&")) return trimmed; // it begins an anchor that nothing can refer to
  const document = parseDocument(given, { logLevel: "error" });
  if (document.errors[0] !== undefined) throw document.errors[0];
  return isText(document, given) ? trimmed : yamlValue(document);
}

/**
 * YAML would drop parts of some texts: it takes what follows a # as a comment, a line break as a space, `|` as an empty text, `-` as a list
 * of null, `user:` as an object with null in it, and `---` as null. Here such values stay texts.
 */
function isText({ contents }: Document, given: string): boolean {
  if (contents === null || /^[-?:]$/.test(given.trim())) return true;
  if (isMap(contents))
    return !contents.flow && !given.includes("\n") && contents.items.every(({ value }) => isNothing(value));
  if (!isScalar(contents)) return false;
  const { type, value } = contents;
  if (type === "PLAIN") return typeof value === "string" || isNothing(contents);
  return (type === "BLOCK_LITERAL" || type === "BLOCK_FOLDED") && !given.includes("\n");
}

/** Whether no value is written. `null` and `~` are values. */
const isNothing = (node: unknown): boolean =>
  node === null || (isScalar(node) && node.value === null && (node.source ?? "") === "");

/**
 * Copies the value and applies the assignments in order. Missing steps on the way are created; a plain value on the way is
 * an error.
 */
export function withAssignments(value: unknown, assignments: Assignment[]): unknown {
  return assignments.reduce<unknown>((sofar, { path, value: set }) => setAt(sofar, path, set, path), value);
}

function setAt(here: unknown, [step, ...rest]: (string | number)[], value: unknown, path: (string | number)[]): unknown {
  if (step === undefined) return value;
  if (typeof step === "number") {
    if (here !== undefined && here !== null && !Array.isArray(here)) throw noWay(path, "is no list");
    const list: unknown[] = Array.isArray(here) ? [...(here as unknown[])] : [];
    if (step > list.length) throw noWay(path, `has ${list.length} entries, so [${step}] would leave a gap`);
    list[step] = setAt(list[step], rest, value, path);
    return list;
  }
  if (here !== undefined && here !== null && (typeof here !== "object" || Array.isArray(here)))
    throw noWay(path, "is no object");
  const fields = { ...(here as Record<string, unknown> | undefined) };
  fields[step] = setAt(Object.hasOwn(fields, step) ? fields[step] : undefined, rest, value, path);
  return fields;
}

const noWay = (path: (string | number)[], why: string) =>
  usageFailure(`Cannot set ${writePath(path)}: what is on the way ${why}`);

/** Writes a path as the command line takes it: `retry.delaysMs[0]`. */
export const writePath = (path: (string | number)[]): string =>
  path
    .map((step, index) =>
      typeof step === "number" ? `[${step}]` : `${index === 0 ? "" : "."}${step.replaceAll(/([.\\[=])/g, "\\$1")}`,
    )
    .join("");
