import type { ErrorText, SlotReport } from "@unacked/contracts";
import type { DeadlyFile } from "../../wire/messages.ts";
import type { SuspectGroup } from "./blame/suspicion.ts";
import { LogCredit } from "./log-credit.ts";
import type { SlotEnd, SlotProcess } from "./process/slot-process.ts";
import { SlotLag } from "./slot-lag.ts";
import { ownMemoryBytes } from "./slot-memory.ts";

/** What a slot is for: everybody, nobody yet, or only some. */
export type Purpose = { kind: "shared" | "spare" } | OwnPurpose;

/** The suspects of one group, one observer that was found guilty, or a bounded number of a type that asks for it. */
export type OwnPurpose =
  | { kind: "suspects"; group: SuspectGroup; memoryBytes?: number | undefined }
  | { kind: "alone"; observerId: string; type: string; memoryBytes?: number | undefined }
  | { kind: "own"; type: string; memoryBytes?: number | undefined };

/** A slot's process with its purpose, and what is known of it. */
export interface Slot {
  readonly process: SlotProcess;
  /** The memory of a run that the heap's limit in V8 leaves room for. It was set at the start, and cannot be changed. */
  readonly heapForBytes: number;
  purpose: Purpose;
  /** When it got its purpose, by performance.now(). */
  sinceMs: number;
  /** Whether its observers' files are loaded, so that it takes starts. */
  isLoaded: boolean;
  /** By type: the print of its code, once it has loaded. */
  prints: ReadonlyMap<string, string>;
  /** Whether anything has been placed in it. */
  hasRun: boolean;
  /** The only observer that has ever been placed in it. */
  onlyObserver: string | undefined;
  /** It takes no more, and goes when its last run has gone. */
  isRetired: boolean;
  /** There is newer code than its own, or it is spoilt: it takes no more either, but runs that may stay in it do. */
  isOld: boolean;
  /** In words: handlers failed in it that are well in others. */
  spoilt?: string;
  /** It tries whether the folder loads, and nothing is placed in it meanwhile. */
  isOnTrial: boolean;
  /** The file that it is loading, which is to blame for what happens to it meanwhile. */
  loading?: Omit<DeadlyFile, "problem"> | undefined;
  /** The files that it was told to load before all others, in this order. */
  readonly loadsFirst: readonly string[];
  /** What ended it, if that is known but names nobody. */
  lastWord?: ErrorText;
  /** Aborts when the slot is gone. */
  readonly living: AbortController;
  readonly lag: SlotLag;
  readonly logCredit: LogCredit;
  readonly startedAtMs: number;
  /** The memory that it took when it had loaded its files, before anything ran in it. */
  loadedBytes: number;
  /** The descriptors that it had open then: files, sockets, pipes. */
  loadedDescriptors: number;
  /** Its memory as it reports it; only without /proc. */
  toldMemoryBytes: number;
  /** Its memory at the last look, as asking the system takes milliseconds. 0 means none yet. */
  seenMemoryBytes: number;
  /** When it was last told to collect its garbage, as it took too much, by performance.now(). */
  collectedAtMs: number;
}

export const newSlot = (
  process: SlotProcess,
  purpose: Purpose,
  heapForBytes: number,
  loadsFirst: readonly string[] = [],
): Slot => ({
  process,
  heapForBytes,
  loadsFirst,
  purpose,
  isLoaded: false,
  prints: new Map(),
  hasRun: false,
  onlyObserver: undefined,
  isRetired: false,
  isOld: false,
  isOnTrial: false,
  living: new AbortController(),
  lag: new SlotLag(),
  logCredit: new LogCredit((lines) => process.send({ kind: "logged", lines })),
  startedAtMs: Date.now(),
  sinceMs: performance.now(),
  loadedBytes: 0,
  loadedDescriptors: 0,
  toldMemoryBytes: 0,
  seenMemoryBytes: 0,
  collectedAtMs: Number.NEGATIVE_INFINITY,
});

/** The memory that it may take, if that differs from the general limit. */
export const memoryWishOf = (purpose: Purpose): number | undefined =>
  "memoryBytes" in purpose ? purpose.memoryBytes : undefined;

/** Whether a run of that purpose may take there what it asks for, and finds its code, as far as that is known. */
export function suits({ heapForBytes, isLoaded, prints }: Slot, purpose: OwnPurpose): boolean {
  const lacksIt = isLoaded && purpose.kind !== "suspects" && !prints.has(purpose.type);
  return !lacksIt && (memoryWishOf(purpose) ?? 0) <= heapForBytes;
}

/** Whether it may be given handlers, now or when it has loaded. */
export const isOfUse = ({ process, isRetired, isOld, isOnTrial }: Slot): boolean =>
  !process.isKilled && !isRetired && !isOld && !isOnTrial;

/** Whether it takes anybody's starts now. */
export const isShared = (slot: Slot): boolean => slot.purpose.kind === "shared" && slot.isLoaded && isOfUse(slot);

export const memoryOf = ({ process, toldMemoryBytes }: Slot): number => ownMemoryBytes(process.pid) || toldMemoryBytes;

/** How a slot ended, in words. */
export const endText = ({ code, signal }: SlotEnd): string =>
  signal === null ? (code === null ? "it could not be started" : `exit code ${code}`) : signal;

/** What ended it, if that is known; else how it ended. */
export const lastWordsOf = ({ lastWord }: Slot, end: SlotEnd): string =>
  lastWord === undefined ? endText(end) : `${lastWord.name}: ${lastWord.message}`;

export function isSame(one: Purpose, other: Purpose): boolean {
  if (one.kind === "suspects" && other.kind === "suspects") return one.group.id === other.group.id;
  if (one.kind === "own" && other.kind === "own") return one.type === other.type;
  return one.kind === "alone" && other.kind === "alone" && one.observerId === other.observerId;
}

/** @param runs how many run in it */
export function reportOf(slot: Slot, runs: number): SlotReport {
  const { process, purpose, lag, startedAtMs: startedAt } = slot;
  const figures = { runs, memoryBytes: slot.seenMemoryBytes || memoryOf(slot), lagMs: lag.worstMs(), startedAt };
  return { pid: process.pid, purpose: purpose.kind, ...figures };
}
