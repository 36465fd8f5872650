import { readFileSync } from "node:fs";
import type { Capacity } from "../../machine/capacity.ts";

/** A slot that takes more than it may: memory, or descriptors. `isFar`: by so much that no run in it can be waited for. */
export type OverLimit = { readonly isFar: boolean } & (
  | { readonly bytes: number; readonly limitBytes: number }
  | { readonly descriptors: number; readonly limitDescriptors: number }
);

const MIB = 2 ** 20;
const FAR = 1.3;
/**
 * V8's own limit lies above ours, as we can say who grew, while V8 only ends the process. An exception are files that alone take more than
 * 1.375 times of what a slot may take, in its heap: then V8's comes first (`limitBeside`), and the service's log has advised to give slots
 * more.
 */
const HEAP_LIMIT = 1.5;
/** The part of a service's memory for its own process. Slots share the rest. */
export const OF_THE_KEEPER = 192 * MIB;
const AT_LEAST = 96 * MIB;

/** The part of a slot's memory that is left for runs, whatever its files took before anything ran in it. */
const FOR_RUNS = 0.125;

/**
 * What a slot may take with its runs. Its files took a part of that before anything ran, for which no run is to blame: if that is nearly
 * all, or more, each slot would be over its limit for ever, and its runs would be blamed.
 */
export const limitBeside = (limitBytes: number, loadedBytes: number): number =>
  Math.max(limitBytes, loadedBytes + FOR_RUNS * limitBytes);

export function overLimit(bytes: number, limitBytes: number): OverLimit | undefined {
  return bytes <= limitBytes ? undefined : { bytes, limitBytes, isFar: bytes > FAR * limitBytes };
}

/** `SLOT_MEMORY_MB=auto`: what the keeper leaves, in equal parts for the slots and the spare one. */
export function autoSlotMemoryBytes({ memoryBytes }: Capacity, slots: number): number {
  return Math.max(AT_LEAST, Math.floor((memoryBytes - OF_THE_KEEPER) / (slots + 1)));
}

/** The value of `--max-old-space-size`, in MiB. */
export const heapLimitMib = (limitBytes: number): number => Math.ceil((HEAP_LIMIT * limitBytes) / MIB);

export const overText = (over: OverLimit): string =>
  "bytes" in over
    ? `its slot took ${Math.round(over.bytes / MIB)} MiB, of ${Math.round(over.limitBytes / MIB)} that it may`
    : `its slot had ${over.descriptors} descriptors open (files, sockets, pipes), of ${over.limitDescriptors} that it may`;

/**
 * The memory that would be free if a process ended: its private pages, except clean ones, and what is swapped out (proc(5),
 * smaps_rollup). 0 without /proc, or if the process is gone.
 */
export function ownMemoryBytes(pid: number): number {
  try {
    const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, "latin1");
    return (kibOf(rollup, "Private_Dirty") + kibOf(rollup, "Swap")) * 1_024;
  } catch {
    return 0;
  }
}

/** An upper bound of that, including shared pages. It is forty times faster to read (0.02 ms), as no page is looked at. */
export function memoryBoundBytes(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "latin1");
    return (kibOf(status, "VmRSS") + kibOf(status, "VmSwap")) * 1_024;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

const kibOf = (rollup: string, field: string): number =>
  Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, "m").exec(rollup)?.[1] ?? 0);
