import type { Command } from "../domain/books.ts";

/** The commands of one kind that are not sent, or not answered, yet. */
export interface CommandCount {
  kind: Command["kind"];
  count: number;
  /** How long the one that is due for longest has been due, in s; 0 when none is. */
  overdueS: number;
  /** The age of the oldest, in s. */
  oldestS: number;
}
