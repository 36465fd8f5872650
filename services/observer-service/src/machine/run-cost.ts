import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** Of an observer of which nothing is known. */
export const DEFAULT_COST_BYTES = 4 * 2 ** 20;
const LEAST_COST_BYTES = 64 * 1_024;
/** Fewer tell nothing of what one of them takes; fewer do not tell that it is less than more of them have said. */
const LEAST = 3;
const FEW = 10;
/** Who ends may leave so much of what it took, until that is collected: to end takes memory too, and what is measured wavers. */
const LEAVES = 1.25;
/** Looks, two a second: what tasks have left is collected by then where many observers go on allocating. */
const SINCE_TASKS = 120;

/**
 * What one observer takes here, as it is measured, kept in a folder for the next start where there is one. A file that cannot be read
 * or written costs nothing but the memory of it.
 */
export class RunCost {
  readonly #file: string | undefined;
  #bytes = DEFAULT_COST_BYTES;
  #kept: number | undefined;
  #runs = 0;
  /** So much of what is measured may be garbage of those that have ended. */
  #leftBytes = 0;
  /** As many have said, or as it was thought at first: a few tell that it is less than they have said themselves, and not than this. */
  #bytesOfMany = DEFAULT_COST_BYTES;
  /** As it was measured where no task had a part in it: what is worth keeping. */
  #ownBytes = DEFAULT_COST_BYTES;
  #looksSinceTasks = Number.POSITIVE_INFINITY;

  /** @param dir undefined: nothing is kept. @param name of the service: several may share the folder */
  constructor(dir: string | undefined, name: string) {
    this.#file = dir && join(dir, `run-cost-${name}.json`);
    const kept = this.#file === undefined ? undefined : keptIn(this.#file);
    if (kept === undefined) return;
    this.#bytes = kept;
    this.#bytesOfMany = kept;
    this.#ownBytes = kept;
    this.#kept = kept;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /**
   * So many take so much together. Where tasks run beside them it cannot be told whose it is: too much is thought of them then, as too little
   * could fill the memory, until it falls again.
   *
   * @param hadTasks some have run beside them since the last time
   */
  note(runs: number, grownBytes: number, hadTasks = false): void {
    this.#looksSinceTasks = hadTasks ? 0 : this.#looksSinceTasks + 1;
    // Who begins takes what others have left; what is not there any more nobody has left.
    const leftBytes = this.#leftBytes + (this.#runs - runs) * LEAVES * this.#bytes;
    this.#leftBytes = Math.max(0, Math.min(leftBytes, grownBytes));
    this.#runs = runs;
    if (runs < LEAST) return;
    const measured = Math.max(LEAST_COST_BYTES, grownBytes / runs);
    // More than was thought is believed at once; of less, garbage that was collected may be a part.
    if (measured > this.#bytes) this.#bytes = Math.max(this.#bytes, (grownBytes - this.#leftBytes) / runs);
    else {
      this.#leftBytes = 0;
      const lessBytes = this.#bytes + (measured - this.#bytes) / 10;
      this.#bytes = runs < FEW ? Math.max(this.#bytesOfMany, lessBytes) : lessBytes;
    }
    if (!this.#isTheirOwn(runs)) return;
    this.#ownBytes = this.#bytes;
    if (runs >= FEW) this.#bytesOfMany = this.#bytes;
  }

  #isTheirOwn(runs: number): boolean {
    if (this.#looksSinceTasks === 0) return false;
    return this.#bytes <= this.#ownBytes || this.#looksSinceTasks > (runs < FEW ? Number.MAX_VALUE : SINCE_TASKS);
  }

  /** Writes what observers take by themselves, if that has changed by more than a tenth. */
  keep(): void {
    const bytes = this.#ownBytes;
    if (this.#file === undefined || Math.abs(bytes - (this.#kept ?? 0)) < 0.1 * bytes) return;
    try {
      // Not `recursive`: below /proc Node 20 never comes back from that.
      if (!existsSync(dirname(this.#file))) mkdirSync(dirname(this.#file));
      writeFileSync(`${this.#file}.new`, `${JSON.stringify({ bytesPerObserver: Math.round(bytes) })}\n`);
      renameSync(`${this.#file}.new`, this.#file);
      this.#kept = bytes;
    } catch {
      // The next start guesses.
    }
  }
}

function keptIn(file: string): number | undefined {
  try {
    const { bytesPerObserver } = JSON.parse(readFileSync(file, "utf8")) as { bytesPerObserver?: unknown };
    return typeof bytesPerObserver === "number" && bytesPerObserver >= LEAST_COST_BYTES ? bytesPerObserver : undefined;
  } catch {
    return undefined;
  }
}
