import { type ObserverSpec, type ObserverView, SPEC_FIELD_NAMES } from "@unacked/contracts";
import { writePath } from "./assignments.ts";

export interface Difference {
  path: string;
  /** Undefined: it has none. */
  is: unknown;
  wanted: unknown;
}

/** Where what is wanted of an observer is not as its document has it. Only what can be changed is compared; defaults count as said. */
export function differencesOf(observer: ObserverView, wanted: Partial<ObserverSpec>): Difference[] {
  return SPEC_FIELD_NAMES.flatMap((key) =>
    wanted[key] === undefined ? [] : differencesAt(observer[key] ?? null, wanted[key], [key]),
  );
}

/** Each place in two values where they are not the same. */
export function differencesAt(is: unknown, wanted: unknown, path: (string | number)[]): Difference[] {
  if (Object.is(is, wanted)) return [];
  if (!isContainer(is) || !isContainer(wanted) || Array.isArray(is) !== Array.isArray(wanted)) {
    return [{ path: writePath(path), is, wanted }];
  }
  const keys = new Set([...Object.keys(is), ...Object.keys(wanted)]);
  const isList = Array.isArray(is);
  return [...keys].flatMap((key) => differencesAt(is[key], wanted[key], [...path, isList ? Number(key) : key]));
}

const isContainer = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;
