import type { ErrorText, SlotReport } from "@unacked/contracts";
import type { DeadlyFile } from "../../wire/messages.ts";
import type { SuspectGroup } from "./blame/suspicion.ts";
import { LogCredit } from "./log-credit.ts";
import type { SlotEnd, SlotProcess } from "./process/slot-process.ts";
import { SlotLag } from "./slot-lag.ts";
import { ownMemoryBytes } from "./slot-memory.ts";

/** What a slot is for: everybody · nobody yet · or one of some. */
export type Purpose = { kind: "shared" | "spare" } | OwnPurpose;

/** The suspects of one group · one observer that was found guilty · so many of a type that asks for it. */
export type OwnPurpose =
  | { kind: "suspects"; group: SuspectGroup; memoryBytes?: number | undefined }
  | { kind: "alone"; observerId: string; type: string; memoryBytes?: number | undefined }
  | { kind: "own"; type: string; memoryBytes?: number | undefined };

/** A slot's process with what it is for, and what is known of it. */
export interface Slot {
  readonly process: SlotProcess;
  /** V8 lets its heap grow as far as who may take so much needs; it was told so when it was started, and cannot be told more. */
  readonly heapForBytes: number;
  purpose: Purpose;
  /** When it got that, by performance.now(). */
  sinceMs: number;
  /** Its observers' files are loaded: it takes starts. */
  isLoaded: boolean;
  /** By type, when it has loaded: the print of its code. */
  prints: ReadonlyMap<string, string>;
  /** Something has been placed in it. */
  hasRun: boolean;
  /** No other has ever been placed in it. */
  onlyObserver: string | undefined;
  /** It takes no more, and goes when what runs in it has. */
  isRetired: boolean;
  /** There is newer code than its own, or it is spoilt: the same, but what may stay in it does. */
  isOld: boolean;
  /** Handlers failed in it that are well in others, in words. */
  spoilt?: string;
  /** It looks whether the folder loads; nothing is placed in it meanwhile. */
  isOnTrial: boolean;
  /** The file that it loads, where what becomes of it meanwhile is that file's doing. */
  loading?: Omit<DeadlyFile, "problem"> | undefined;
  /** The files that it was told to load before all others, in this order. */
  readonly loadsFirst: readonly string[];
  /** What ended it, where it is known, and known of nobody. */
  lastWord?: ErrorText;
  /** Aborted when it is gone. */
  readonly living: AbortController;
  readonly lag: SlotLag;
  readonly logCredit: LogCredit;
  readonly startedAtMs: number;
  /** What it took when it had loaded its files, before anything ran in it. */
  loadedBytes: number;
  /** What it had open then: files, sockets, pipes. */
  loadedDescriptors: number;
  /** As it says itself; only where there is no /proc. */
  toldMemoryBytes: number;
  /** When it was last looked at: to ask the system takes milliseconds. 0: not yet. */
  seenMemoryBytes: number;
  /** When it was last told to collect its garbage, as it took too much; by performance.now(). */
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

/** What it may take, where that is not what all may. */
export const memoryWishOf = (purpose: Purpose): number | undefined =>
  "memoryBytes" in purpose ? purpose.memoryBytes : undefined;

/** Who has that purpose may take there what it asks for, and finds its code, as far as that is known. */
export function suits({ heapForBytes, isLoaded, prints }: Slot, purpose: OwnPurpose): boolean {
  const lacksIt = isLoaded && purpose.kind !== "suspects" && !prints.has(purpose.type);
  return !lacksIt && (memoryWishOf(purpose) ?? 0) <= heapForBytes;
}

/** It may be given handlers, now or when it has loaded. */
export const isOfUse = ({ process, isRetired, isOld, isOnTrial }: Slot): boolean =>
  !process.isKilled && !isRetired && !isOld && !isOnTrial;

/** It takes anybody's starts now. */
export const isShared = (slot: Slot): boolean => slot.purpose.kind === "shared" && slot.isLoaded && isOfUse(slot);

export const memoryOf = ({ process, toldMemoryBytes }: Slot): number => ownMemoryBytes(process.pid) || toldMemoryBytes;

/** How a slot ended, in words. */
export const endText = ({ code, signal }: SlotEnd): string =>
  signal === null ? (code === null ? "it could not be started" : `exit code ${code}`) : signal;

/** What ended it, where it is known; else how it ended. */
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
