import { readFileSync } from "node:fs";
import { availableParallelism, totalmem } from "node:os";
import { cgroupLimits, type ReadText } from "./cgroup-limits.ts";
import type { Capacity } from "./worker-count.ts";

/** What this process may use of its machine: the machine's own size, or less where a container limits it. */
export function machineCapacity(read: ReadText = readText): Capacity {
  const limits = cgroupLimits(read);
  return {
    cores: Math.min(availableParallelism(), limits.cores ?? Number.POSITIVE_INFINITY),
    memoryBytes: Math.min(totalmem(), limits.memoryBytes ?? Number.POSITIVE_INFINITY),
  };
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined; // not this version of control groups, or none at all
  }
}
