import type { CreateObserver, ObserverView } from "@unacked/contracts";
import { writePath } from "./assignments.ts";

export interface Difference {
  path: string;
  /** Undefined: it has none. */
  runs: unknown;
  wanted: unknown;
}

/** Where an observer is not as its document has it. Only what a document can say is compared; defaults count as said. */
export function differencesOf(observer: ObserverView, wanted: CreateObserver): Difference[] {
  const compared = ["type", "params", "pool", "labels", "retry"] as const;
  return compared.flatMap((key) => compare(observer[key], wanted[key], [key]));
}

function compare(runs: unknown, wanted: unknown, path: (string | number)[]): Difference[] {
  if (Object.is(runs, wanted)) return [];
  if (!isContainer(runs) || !isContainer(wanted) || Array.isArray(runs) !== Array.isArray(wanted)) {
    return [{ path: writePath(path), runs, wanted }];
  }
  const keys = new Set([...Object.keys(runs), ...Object.keys(wanted)]);
  const isList = Array.isArray(runs);
  return [...keys].flatMap((key) => compare(runs[key], wanted[key], [...path, isList ? Number(key) : key]));
}

const isContainer = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;
