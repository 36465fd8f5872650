import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** The cost of an observer of which nothing is known. */
export const DEFAULT_COST_BYTES = 4 * 2 ** 20;
const LEAST_COST_BYTES = 64 * 1_024;
/**
 * Fewer runs than LEAST tell nothing about the cost of one; fewer than FEW cannot lower the cost below what more of them
 * have shown.
 */
const LEAST = 3;
const FEW = 10;
/** How much of its cost an ended run may leave until it is collected: ending takes memory, too, and what is measured wavers. */
const LEAVES = 1.25;
/** The number of looks, two a second, after which what tasks have left is collected, if many observers go on allocating. */
const SINCE_TASKS = 120;

/**
 * The memory that one observer takes here, as it is measured, kept in a folder, if there is one, for the next start. If the file
 * cannot be read or written, it is measured anew.
 */
export class RunCost {
  readonly #file: string | undefined;
  #bytes = DEFAULT_COST_BYTES;
  #kept: number | undefined;
  #runs = 0;
  /** How much of the measured memory may be garbage of runs that have ended. */
  #leftBytes = 0;
  /**
   * The cost that many runs have shown, or the first guess: a few runs can lower the cost they have shown themselves, but not below
   * this.
   */
  #bytesOfMany = DEFAULT_COST_BYTES;
  /** The cost as it was measured without any part of tasks, which is worth keeping. */
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
    // New runs take what others have left, and what is no longer there cannot be left by anybody.
    const leftBytes = this.#leftBytes + (this.#runs - runs) * LEAVES * this.#bytes;
    this.#leftBytes = Math.max(0, Math.min(leftBytes, grownBytes));
    this.#runs = runs;
    if (runs < LEAST) return;
    const measured = Math.max(LEAST_COST_BYTES, grownBytes / runs);
    // A higher cost is believed at once. A lower one may partly come from garbage that was collected.
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

  /** Writes the cost of observers by themselves, if it has changed by more than a tenth. */
  keep(): void {
    const bytes = this.#ownBytes;
    if (this.#file === undefined || Math.abs(bytes - (this.#kept ?? 0)) < 0.1 * bytes) return;
    try {
      // Not `recursive`, as Node 20 never returns from that below /proc.
      if (!existsSync(dirname(this.#file))) mkdirSync(dirname(this.#file));
      writeFileSync(`${this.#file}.new`, `${JSON.stringify({ bytesPerObserver: Math.round(bytes) })}\n`);
      renameSync(`${this.#file}.new`, this.#file);
      this.#kept = bytes;
    } catch {
      // The next start guesses again.
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
