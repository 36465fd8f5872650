import { SdkError } from "./sdk-error.ts";

/** A year. */
const LONGEST_MS = 366 * 86_400_000;
const MAX_REASON = 1_000;
const brand = Symbol.for("unacked.task-postponed");

/** When a task is to go on: `inMs` milliseconds after its run has ended, or `at` a time. */
export type Postponement = ({ readonly inMs: number } | { readonly at: Date }) & {
  /** Shown with the task for as long as it waits; `""`: none. */
  readonly reason: string;
};

/**
 * What `ctx.postpone` throws, so that the handler ends there. No failure: whoever catches all errors lets it pass
 * ({@link isTaskPostponed}), or not: the task is postponed all the same.
 */
export class TaskPostponed extends Error {
  /** Always `TaskPostponed`. */
  override readonly name = "TaskPostponed";
  /** Until when, and why. */
  readonly postponement: Postponement;

  constructor(postponement: Postponement) {
    super(`postponed${postponement.reason === "" ? "" : `: ${postponement.reason}`}`);
    this.postponement = postponement;
    Object.defineProperty(this, brand, { value: 1 });
  }
}

/** Whether a caught value is what `ctx.postpone` throws; recognises the class across copies of this package. */
export function isTaskPostponed(value: unknown): value is TaskPostponed {
  return value instanceof Error && brand in value;
}

/** Of one run: what its handler gets as `ctx.postpone`, and what it has asked for with it. */
export class Postponing {
  /** The first time that was asked for counts. */
  asked: Postponement | undefined;

  /** `ctx.postpone`. */
  readonly postpone = (when: number | Date, reason = ""): never => {
    const postponement = { ...timeOf(when), reason: reasonOf(reason) };
    this.asked ??= postponement;
    throw new TaskPostponed(postponement);
  };
}

function timeOf(when: unknown): { inMs: number } | { at: Date } {
  if (typeof when === "number" && Number.isFinite(when)) {
    if (when > LONGEST_MS) throw wrong(`${when} ms is more than a year; a time is given as a Date`);
    return { inMs: Math.max(0, Math.round(when)) };
  }
  if (when instanceof Date && Number.isFinite(when.getTime())) {
    if (when.getTime() > Date.now() + LONGEST_MS) throw wrong(`${when.toISOString()} is more than a year away`);
    return { at: new Date(Math.max(when.getTime(), Date.now())) };
  }
  throw wrong(`it takes ms from now, or a valid Date, and was given ${described(when)}`);
}

function reasonOf(reason: unknown): string {
  if (typeof reason !== "string") throw wrong(`a reason is a text, and it was given ${described(reason)}`);
  return reason.slice(0, MAX_REASON);
}

const described = (value: unknown): string =>
  value instanceof Date ? "a Date that is none" : typeof value === "string" ? JSON.stringify(value) : String(value);

const wrong = (what: string) => new SdkError("invalid-option", `postpone: ${what}`);
