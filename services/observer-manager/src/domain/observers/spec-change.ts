import { type ChangeObserver, type ObserverSpec, SPEC_FIELD_NAMES, SPEC_FIELDS, type SpecField } from "@unacked/contracts";
import type { ObserverBook } from "../books/observer-book.ts";
import type { RunBook } from "../books/run-book.ts";
import { sameJson } from "../same-json.ts";

/** A field that is to change. */
export interface SpecDifference {
  field: SpecField;
  is: unknown;
  wanted: unknown;
}

/** Fields of this change that are not so already. The order of keys is no difference, nor is −0. */
export function differencesOf(spec: ObserverSpec, change: ChangeObserver): SpecDifference[] {
  return SPEC_FIELD_NAMES.flatMap((field) => {
    const wanted = change[field];
    return wanted === undefined || sameJson(spec[field], wanted) ? [] : [{ field, is: spec[field], wanted }];
  });
}

/** Whether a handler without `onUpdate` has to be started anew for it. */
export const takesMessage = (fields: readonly SpecField[]): boolean =>
  fields.some((field) => SPEC_FIELDS[field].by === "new-message");

/** Whether a run has to be told of it at least. */
const takesWord = (fields: readonly SpecField[]): boolean => fields.some((field) => SPEC_FIELDS[field].by !== "at-once");

/** What a service can take of a change as a run goes on. */
export interface KnowsUpdates {
  /** It understands what is told to a run. */
  word: boolean;
  /** Its type has `onUpdate`. */
  onUpdate: boolean;
}

/**
 * How a change of these fields reaches what runs.
 * @param knows what the service of the current run can do; undefined: there is no current run
 */
export function inputOf(
  fields: readonly SpecField[],
  knows: KnowsUpdates | undefined,
): "update" | "tell-update" | undefined {
  if (!takesWord(fields)) return undefined;
  const isStopped = fields.includes("pool") || (takesMessage(fields) && knows?.onUpdate !== true);
  return isStopped || knows?.word === false ? "update" : "tell-update";
}

/** What runs, or else its message, is of a spec that has been changed since, or may have been. */
export function isBehind(observer: ObserverBook, run: RunBook | undefined): boolean {
  return (observedSpecVersion(observer, run) ?? observer.sentSpecVersion) < observer.neededSpecVersion;
}

/**
 * The books count the change. Books that were restored may be behind what runs, and no version means two things.
 * @param hasMessage there is one, or may be
 */
export function raiseSpecVersion(
  observer: ObserverBook,
  { run, fields, pool, hasMessage }: { run: RunBook | undefined; fields: SpecField[]; pool: string; hasMessage: boolean },
): void {
  observer.specVersion = Math.max(observer.specVersion, run?.specVersion ?? 0) + 1;
  if (takesWord(fields)) observer.neededSpecVersion = observer.specVersion;
  if (fields.includes("params")) observer.rejectedUpdate = null;
  if (hasMessage && pool !== observer.pool) {
    const messagePool = observer.messagePool ?? observer.pool;
    observer.messagePool = messagePool === pool ? null : messagePool;
  }
  observer.pool = pool;
}

/** Where a service does not say it, it is the version that the books sent, unless they were restored since. */
export function observedSpecVersion(observer: ObserverBook, run: RunBook | undefined): number | null {
  if (run === undefined) return null;
  return run.specVersion ?? (run.revision === observer.revision ? observer.sentSpecVersion : null);
}
