import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { slotsOf } from "../processes/process-tree.ts";
import type { RunningProcess } from "../processes/processes.ts";

/**
 * What may run once more, by the tasks' own acts: of each service that is killed, or cut off from its broker, what its slots began last. Those ran
 * just then, or their ends were still on the way.
 */
export class BegunLast {
  readonly #dir: string;
  readonly #most: number;
  readonly #ids = new Set<string>();
  /** How many began there before the fault since that one did, itself too: the fewest of several faults. */
  readonly #places = new Map<string, number>();

  /**
   * @param dir where tasks of the type `work` write which of them ran
   * @param most so many of each slot
   */
  constructor(dir: string, most: number) {
    this.#dir = dir;
    this.#most = most;
  }

  /** What they begin while it lasts counts, too: those that are cut off go on for a moment. */
  async beside<Result>(services: readonly RunningProcess[], fault: () => Promise<Result>): Promise<Result> {
    const slots = services.flatMap(({ pid }) => slotsOf(pid)).map((pid) => ({ pid, count: this.#begunBy(pid).length }));
    const result = await fault();
    for (const { pid, count } of slots) {
      const begun = this.#begunBy(pid);
      for (const [place, id] of begun.entries())
        this.#places.set(id, Math.min(this.#places.get(id) ?? Number.POSITIVE_INFINITY, Math.max(0, count - place)));
      for (const id of begun.slice(Math.max(0, count - this.#most))) this.#ids.add(id);
    }
    return result;
  }

  /** Of those, which are not explained so. */
  othersThan(ids: readonly string[]): string[] {
    return ids.filter((id) => !this.#ids.has(id));
  }

  /** Of these, how many began before the fault since the first one did: 1 is the last of all. */
  longestAgo(ids: readonly string[]): number {
    return Math.max(0, ...ids.map((id) => this.#places.get(id) ?? 0));
  }

  #begunBy(slot: number): string[] {
    const file = join(this.#dir, `${slot}.log`);
    return existsSync(file) ? readFileSync(file, "utf8").split("\n").slice(0, -1) : [];
  }
}
