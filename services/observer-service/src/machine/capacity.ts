import { availableParallelism, totalmem } from "node:os";
import { cgroupLimits } from "./cgroup-limits.ts";
import { type ReadText, readText } from "./read-text.ts";

export interface Capacity {
  /** The cores that this process may use, fractions included. */
  readonly cores: number;
  readonly memoryBytes: number;
}

/** What this process may use of its machine: the machine's own size, or less where a container limits it. */
export function machineCapacity(read: ReadText = readText): Capacity {
  const limits = cgroupLimits(read);
  return {
    cores: Math.min(availableParallelism(), limits.cores ?? Number.POSITIVE_INFINITY),
    memoryBytes: Math.min(totalmem(), limits.memoryBytes ?? Number.POSITIVE_INFINITY),
  };
}
