import { readdirSync, readFileSync, statSync } from "node:fs";
import { limitBeside, type OverLimit } from "./slot-memory.ts";

/** Of what the system lets a process have open a slot may have so much: beyond the rest its observers could open nothing. */
const MAY = 0.8;
/** From here on it is about to be, or is, so. */
const FAR = 0.95;

/**
 * What a slot has open too much. Its files have opened some before anything ran, which is no run's doing.
 *
 * @returns undefined: not, or it cannot be told (no /proc)
 */
export function descriptorsOver(pid: number, loaded: number): OverLimit | undefined {
  const most = mostDescriptors(pid);
  const limitDescriptors = Math.floor(limitBeside(MAY * most, loaded));
  const descriptors = openDescriptors(pid);
  if (descriptors <= limitDescriptors) return undefined;
  return { descriptors, limitDescriptors, isFar: descriptors > FAR * most };
}

/** How many descriptors a process has open; 0 where there is no /proc, or no such process any more. */
export function openDescriptors(pid: number): number {
  const folder = `/proc/${pid}/fd`;
  try {
    // Since Linux 6.2 the folder's size is their number. Before that it is 0, and each is to be counted.
    return statSync(folder).size || readdirSync(folder).length;
  } catch {
    return 0;
  }
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
