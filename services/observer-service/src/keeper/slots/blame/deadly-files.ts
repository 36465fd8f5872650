import { sendableText } from "../../../error-text.ts";
import type { DeadlyFile } from "../../../wire/messages.ts";

/**
 * After this long a file is tried again, as the cause may have been mended from outside: a server that it waits for, a
 * machine that was too slow.
 */
const TRIED_AGAIN_AFTER_MS = 600_000;
/** After so many ends in a row that revealed no more than the one before, the search is hopeless. */
const MANY = 10;
const MAX_WHY = 1_000;

interface Found extends DeadlyFile {
  /** Undefined means that new slots load it before all others. */
  leftOutAtMs: number | undefined;
}

/**
 * Files that end, or block, the slots that load them. The first time the cause may be what another file has left behind, something outside,
 * or a machine that is slow for a moment: new slots then load that file before all others. If it ends one of these, it is left out of new
 * slots, as any other file that does not load, for as long as its code is the same, or until it is tried again. Otherwise no slot would
 * ever load again, and all other types would be lost. It is gone with this process.
 */
export class DeadlyFiles {
  /** The file that was found last is the last here. */
  readonly #found = new Map<string, Found>();
  #ends = 0;

  /**
   * A slot has ended while it loaded this file.
   *
   * @param why how it ended
   * @param wasFirst it was told to load this one before all others
   * @returns whether new slots do without it
   */
  note({ file, print }: Omit<DeadlyFile, "problem">, why: string, wasFirst: boolean, nowMs = performance.now()): boolean {
    const before = this.#found.get(file);
    if (before?.print === print && isLeftOut(before, nowMs)) return true; // a slot that had begun before has ended
    const problem = `it does not load, and ends each process that tries to: ${sendableText(why, MAX_WHY)}`;
    const isSure = wasFirst && before?.print === print;
    // All slots of a large service load the file in step, and the first has reported it.
    const isNews = before?.print !== print || [...this.#found.keys()].at(-1) !== file;
    this.#ends = isSure ? 0 : this.#ends + (isNews ? 1 : 0);
    this.#found.delete(file);
    this.#found.set(file, { file, print, problem, leftOutAtMs: isSure ? nowMs : undefined });
    return isSure;
  }

  /** A slot has loaded the folder. @param broken what it did not load of it */
  loaded(broken: readonly string[]): void {
    this.#ends = 0;
    for (const file of [...this.#found.keys()]) if (!broken.includes(file)) this.#found.delete(file);
  }

  /** Lets new slots load them again, once. */
  tryAgain(): void {
    for (const found of this.#found.values()) found.leftOutAtMs = undefined;
  }

  /** Whether the search for the file has been given up. */
  get isHopeless(): boolean {
    return this.#ends >= MANY;
  }

  /** The files that new slots leave out. */
  all(nowMs = performance.now()): DeadlyFile[] {
    return [...this.#found.values()].filter((found) => isLeftOut(found, nowMs)).map(asFile);
  }

  /** Files that slots were started without, and that none has loaded since. */
  get lacking(): DeadlyFile[] {
    return [...this.#found.values()].filter(({ leftOutAtMs }) => leftOutAtMs !== undefined).map(asFile);
  }

  /** The files that are loaded before all others, in this order. */
  first(nowMs = performance.now()): string[] {
    return [...this.#found.values()].flatMap((found) => (isLeftOut(found, nowMs) ? [] : found.file)).reverse();
  }
}

const asFile = ({ file, print, problem }: Found): DeadlyFile => ({ file, print, problem });

const isLeftOut = ({ leftOutAtMs }: Found, nowMs: number): boolean =>
  leftOutAtMs !== undefined && nowMs - leftOutAtMs < TRIED_AGAIN_AFTER_MS;
