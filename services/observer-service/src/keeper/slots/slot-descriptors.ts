import { readdirSync, readFileSync, statSync } from "node:fs";
import { limitBeside, type OverLimit } from "./slot-memory.ts";

/**
 * The part of a process's descriptors that a slot may have open. With less than the rest its observers could not open
 * anything.
 */
const MAY = 0.8;
/** Below this part of its bound a slot is not about to have too many. */
const FEW = 0.5;
/** Since Linux 6.2 the folder's size is their number. Before that it is 0, and they have to be counted: 6 ms for 5,000. */
const IS_COUNTED = openBySize("self") === 0;
/** From this part of the system's bound on, a slot is about to run out of them, or has. */
const FAR = 0.95;

/** Looks at the descriptors of one slot. */
export class SlotDescriptors {
  readonly #pid: number;
  readonly #isCounted: boolean;
  #hasFew = false;

  constructor(pid: number, isCounted = IS_COUNTED) {
    this.#pid = pid;
    this.#isCounted = isCounted;
  }

  /**
   * What it has open too much. Its files have opened some before anything ran, which is no run's doing.
   *
   * @param isFullLook it is looked at even if it had few, and they are to be counted
   * @returns undefined: not, or it cannot be told (no /proc)
   */
  over(loaded: number, isFullLook: boolean): OverLimit | undefined {
    if (this.#isCounted && this.#hasFew && !isFullLook) return undefined;
    const most = mostDescriptors(this.#pid);
    const limitDescriptors = Math.floor(limitBeside(MAY * most, loaded));
    const descriptors = openDescriptors(this.#pid);
    this.#hasFew = descriptors < FEW * limitDescriptors;
    if (descriptors <= limitDescriptors) return undefined;
    return { descriptors, limitDescriptors, isFar: descriptors > FAR * most };
  }
}

/** How many descriptors a process has open; 0 without /proc, or if the process is gone. */
export function openDescriptors(pid: number): number {
  try {
    return openBySize(pid) || readdirSync(folderOf(pid)).length;
  } catch {
    return 0;
  }
}

function openBySize(pid: number | "self"): number {
  return statSync(folderOf(pid), { throwIfNoEntry: false })?.size ?? 0;
}

function folderOf(pid: number | "self"): string {
  return `/proc/${pid}/fd`;
}

/** How many descriptors a process may have (proc(5), limits). */
function mostDescriptors(pid: number): number {
  try {
    const limits = readFileSync(`/proc/${pid}/limits`, "latin1");
    return Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? Number.POSITIVE_INFINITY);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
