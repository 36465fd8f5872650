import { sendableText } from "../../error-text.ts";
import type { DeadlyFile } from "../../wire/messages.ts";

/** In a row: what ends or blocks one slot as it loads may come from outside, or from a machine that is too slow for a moment. */
const TIMES = 2;
const MAX_WHY = 1_000;

/**
 * Files that end, or block, the slots that load them: from the second time in a row on new slots do without, as they would with any other file that
 * does not load, for as long as its code is the same. Else no slot would ever load again, and all other types with them. It is gone with this process.
 */
export class DeadlyFiles {
  readonly #found = new Map<string, DeadlyFile & { readonly times: number }>();

  /**
   * A slot has ended while it loaded this file, and nothing else.
   *
   * @param why how it ended
   * @returns whether new slots do without it
   */
  note({ file, print }: Omit<DeadlyFile, "problem">, why: string): boolean {
    const before = this.#found.get(file);
    const times = (before?.print === print ? before.times : 0) + 1;
    const problem = `it does not load, and ends each process that tries to: ${sendableText(why, MAX_WHY)}`;
    this.#found.set(file, { file, print, problem, times });
    return times >= TIMES;
  }

  /** It has been loaded. */
  clear(file: string): void {
    this.#found.delete(file);
  }

  get all(): DeadlyFile[] {
    return [...this.#found.values()].flatMap(({ times, ...file }) => (times >= TIMES ? file : []));
  }
}
