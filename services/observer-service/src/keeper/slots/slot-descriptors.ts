import { readdirSync, readFileSync, statSync } from "node:fs";
import { limitBeside, type OverLimit } from "./slot-memory.ts";

/** Of what the system lets a process have open a slot may have so much: beyond the rest its observers could open nothing. */
const MAY = 0.8;
/** Where less of that is open it is not about to be too much. */
const FEW = 0.5;
/** Since Linux 6.2 the folder's size is their number; before that it is 0, and each is to be counted: 6 ms for 5,000. */
const IS_COUNTED = openBySize("self") === 0;
/** From here on it is about to be, or is, so. */
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

/** How many descriptors a process has open; 0 where there is no /proc, or no such process any more. */
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

/** How many it may have (proc(5), limits). */
function mostDescriptors(pid: number): number {
  try {
    const limits = readFileSync(`/proc/${pid}/limits`, "latin1");
    return Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? Number.POSITIVE_INFINITY);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
