import type { Action } from "../access/audit.ts";
import type { InsertOutcome, NewTask } from "../tasks/task-store.ts";

/** Whose request, and which. */
export interface RequestKey {
  name: string;
  messageId: string;
}

export const requestKey = ({ name, messageId }: RequestKey): string => `${name} ${messageId}`; // neither has a blank

/** What was decided of a request, and is said again whenever it comes again. */
export interface KeptAnswer {
  digest: string;
  json: string;
}

export interface Decision extends RequestKey {
  digest: string;
  tasks: { task: NewTask; action: Action }[];
  /** What to say, and keep, of what became of these tasks. */
  answer(outcomes: InsertOutcome[]): string;
}

export interface RequestStore {
  /** By `requestKey`; of those that were decided. */
  find(keys: readonly RequestKey[]): Promise<Map<string, KeptAnswer>>;
  /**
   * Creates the tasks, with their entries of the audit trail, and keeps the answers: all or nothing. No two are of one request.
   * @returns undefined: another manager has decided one of them meanwhile, and nothing was done
   */
  decide(decisions: readonly Decision[]): Promise<{ json: string; outcomes: InsertOutcome[] }[] | undefined>;
  /** @returns how many */
  forget(olderThanMs: number, limit: number): Promise<number>;
}
