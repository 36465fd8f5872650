import type { ErrorText } from "@unacked/contracts";

/** What a handler does after its end: something in it was not awaited, or not stopped. */
export interface Late {
  readonly runId: string;
  readonly type: string;
  /** The observer of the run. Absent for a task's. */
  readonly observer?: { readonly id: string; readonly name: string } | undefined;
  /** The id of a single task. */
  readonly task?: string | undefined;
  /** The error that it threw, and nobody caught. Absent if it logs, emits or saves. */
  readonly error?: ErrorText | undefined;
  /** How often the type has done so since the last report; this is the last time. */
  readonly times: number;
}

export const THREW_AFTER_END = "a run that had ended threw, and nobody caught it: an await is missing?";
export const GOES_ON_AFTER_END = "it goes on after its end: an await is missing?";
