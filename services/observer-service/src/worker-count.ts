/** Prefetch is a 16-bit number on the wire. */
export const MAX_WORKERS = 65_535;

const WORKERS_PER_CORE = 100;
const BYTES_FOR_THE_SERVICE = 128 * 2 ** 20;
const BYTES_PER_WORKER = 4 * 2 ** 20;

export interface Capacity {
  /** Cores that this process may use, fractions included. */
  readonly cores: number;
  readonly memoryBytes: number;
}

/**
 * `WORKER_COUNT=auto`: 100 workers a core, but no more than one per 4 MiB of the memory that is left after 128 MiB for the
 * service itself; at least 1. Observers mostly wait, so this is generous; a service of hungry ones wants a number.
 */
export function autoWorkerCount({ cores, memoryBytes }: Capacity): number {
  const byCores = cores * WORKERS_PER_CORE;
  const byMemory = (memoryBytes - BYTES_FOR_THE_SERVICE) / BYTES_PER_WORKER;
  return Math.min(MAX_WORKERS, Math.max(1, Math.floor(Math.min(byCores, byMemory))));
}
