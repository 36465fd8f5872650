import type { ErrorText } from "@unacked/contracts";

/** What a handler does after its end: something in it was not awaited, or not stopped. */
export interface Late {
  readonly runId: string;
  readonly type: string;
  /** Whose run it was; absent: a task's. */
  readonly observer?: { readonly id: string; readonly name: string } | undefined;
  /** Of a single task: its id. */
  readonly task?: string | undefined;
  /** It threw this, and nobody caught it; absent: it logs, emits or saves. */
  readonly error?: ErrorText | undefined;
  /** So often has the type done so since that was told last; this is the last one. */
  readonly times: number;
}

export const THREW_AFTER_END = "a run that had ended threw, and nobody caught it: an await is missing?";
export const GOES_ON_AFTER_END = "it goes on after its end: an await is missing?";
