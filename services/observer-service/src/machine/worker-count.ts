import type { Capacity } from "./capacity.ts";
import { DEFAULT_COST_BYTES } from "./run-cost.ts";

/** Prefetch is a 16-bit number on the wire. */
export const MAX_WORKERS = 65_535;

const WORKERS_PER_CORE = 100;
const BYTES_FOR_THE_SERVICE = 128 * 2 ** 20;
const BYTES_FOR_A_SLOT = 32 * 2 ** 20;

/**
 * `WORKER_COUNT=auto`: 100 workers a core, but no more than fit into the memory that is left after 128 MiB for the service itself and
 * 32 MiB for each of its slots and the spare one; at least 1. An estimate: while it runs, what they take is measured
 * (keeper/intake/appetite.ts).
 *
 * @param slots 0: none, nor a spare one
 * @param costBytes what one observer takes, as far as that is known
 */
export function autoWorkerCount({ cores, memoryBytes }: Capacity, slots: number, costBytes = DEFAULT_COST_BYTES): number {
  const byCores = cores * WORKERS_PER_CORE;
  const forSlots = slots === 0 ? 0 : (slots + 1) * BYTES_FOR_A_SLOT;
  const byMemory = (memoryBytes - BYTES_FOR_THE_SERVICE - forSlots) / costBytes;
  return Math.min(MAX_WORKERS, Math.max(1, Math.floor(Math.min(byCores, byMemory))));
}
