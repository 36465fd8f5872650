import type { Action } from "../access/audit.ts";
import type { InsertOutcome } from "../tasks/creations/insert-outcome.ts";
import type { NewTask } from "../tasks/creations/new-task.ts";
import type { CancelOutcome, PutOutcome, TimerCancel, TimerPut } from "../timers/timer-store.ts";

/** Whose request, and which. */
export interface RequestKey {
  name: string;
  messageId: string;
}

export const requestKey = ({ name, messageId }: RequestKey): string => `${name} ${messageId}`; // neither has a blank

/** Answers may be a hundred times as long as what was asked, and are in memory until they are sent. */
export const MAX_ANSWERS_LENGTH = 8_000_000;

/** What was decided of a request, and is said again whenever it comes again. */
export interface KeptAnswer {
  digest: string;
  /** Null: those before it are MAX_ANSWERS_LENGTH already, in bytes. */
  json: string | null;
}

export interface Decision<Item, Outcome> extends RequestKey {
  digest: string;
  items: readonly Item[];
  /** What to say, and keep, of what became of these. */
  answer(outcomes: Outcome[]): string;
}

export type TaskDecision = Decision<{ task: NewTask; action: Action }, InsertOutcome>;
export type TimerDecision = Decision<TimerPut, PutOutcome>;
export type TimerCancelDecision = Decision<TimerCancel, CancelOutcome>;

/** What each answered, in the order given; undefined: another manager has decided one of them meanwhile, and nothing was done. */
export type Answers = string[] | undefined;

/**
 * Each decision does what it decides, with the entries of the audit trail, and keeps the answers: all or nothing. No two are of one
 * request, or of one timer.
 */
export interface RequestStore {
  /**
   * Finds, by `requestKey`, those that were decided. They come in this order, as long as their answers may be together: the first is always
   * there.
   */
  find(keys: readonly RequestKey[]): Promise<Map<string, KeptAnswer>>;
  createTasks(decisions: readonly TaskDecision[]): Promise<Answers>;
  putTimers(decisions: readonly TimerDecision[]): Promise<Answers>;
  cancelTimers(decisions: readonly TimerCancelDecision[]): Promise<Answers>;
  /** @returns how many */
  forget(olderThanMs: number, limit: number): Promise<number>;
}
