import { type ObserverSpec, type ObserverView, SPEC_FIELD_NAMES } from "@unacked/contracts";
import { writePath } from "./assignments.ts";

export interface Difference {
  path: string;
  /** Undefined means that the observer lacks it. */
  is: unknown;
  wanted: unknown;
}

/** Where an observer differs from its document. Only what can be changed is compared; defaults count as given. */
export function differencesOf(observer: ObserverView, wanted: Partial<ObserverSpec>): Difference[] {
  return SPEC_FIELD_NAMES.flatMap((key) =>
    wanted[key] === undefined ? [] : differencesAt(observer[key] ?? null, wanted[key], [key]),
  );
}

/** Each place where two values differ. */
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
