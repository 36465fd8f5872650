import { limitedMemory } from "./cgroup-limits.ts";
import { type ReadText, readText } from "./read-text.ts";

export interface MemoryInUse {
  readonly usedBytes: number;
  readonly limitBytes: number;
  /** Whose memory it is, in words for people. */
  readonly of: string;
}

/**
 * What is in use of the memory that this process may have: of the control group that is nearest to its limit; without a limit, of what
 * this service has and what the machine has left for it. Files in the cache that can be dropped do not count. Undefined: neither can
 * be read (there is no /proc).
 *
 * @param ownBytes what this service takes, with its slots
 */
export function memoryInUse(ownBytes: number, read: ReadText = readText): MemoryInUse | undefined {
  const [tightest] = limitedMemory(read).toSorted((a, b) => b.usedBytes / b.limitBytes - a.usedBytes / a.limitBytes);
  if (tightest !== undefined) return { ...tightest, of: "its control group" };
  const availableBytes = available(read);
  if (availableBytes === undefined) return undefined;
  return { usedBytes: ownBytes, limitBytes: ownBytes + availableBytes, of: "it, with what the machine has left," };
}

/** How much more memory this process could have. */
export function freeMemoryBytes(read: ReadText = readText): number {
  const left = limitedMemory(read).map(({ usedBytes, limitBytes }) => Math.max(0, limitBytes - usedBytes));
  return Math.min(...left, available(read) ?? Number.POSITIVE_INFINITY);
}

function available(read: ReadText): number | undefined {
  const kib = /^MemAvailable:\s+(\d+) kB$/m.exec(read("/proc/meminfo") ?? "")?.[1];
  return kib === undefined ? undefined : Number(kib) * 1_024;
}
