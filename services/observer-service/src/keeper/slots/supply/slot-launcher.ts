import type { Log } from "../../../log.ts";
import type { FromSlot, LeaseWord, Load, Stuck } from "../../../wire/messages.ts";
import { GroupSweeper } from "../process/group-sweeper.ts";
import { deathLeash, type SlotEnd, SlotProcess } from "../process/slot-process.ts";
import { memoryWishOf, newSlot, type Purpose, type Slot } from "../slot.ts";
import { heapLimitMib } from "../slot-memory.ts";

export interface LaunchSettings extends Omit<Load, "kind" | "without" | "first"> {
  /** Node's arguments: its options, and the file that a slot runs. */
  readonly args: readonly string[];
  /** The memory of a slot, unless it is started for a run that asks for more. */
  readonly memoryBytes: number;
  /** Whether V8 gets a limit for its heap. Default: no. */
  readonly isHeapLimited?: boolean;
  readonly env: NodeJS.ProcessEnv;
}

export interface LaunchHooks {
  onMessage(slot: Slot, message: FromSlot): void;
  /** The slot's watchdog has been heard. */
  onAlive(slot: Slot): void;
  onStuck(slot: Slot, word: Stuck): void;
  onGone(slot: Slot, end: SlotEnd): void;
}

/** Starts slots, and tells each what to load and until when it may act. */
export class SlotLauncher {
  readonly #settings: LaunchSettings;
  readonly #hooks: LaunchHooks;
  readonly #log: Log;
  readonly #leash = deathLeash();
  readonly #sweeper = new GroupSweeper();
  #isSilenceHeld = false;
  #lease: LeaseWord = { deadlineNs: null, graceMs: 0 };

  constructor(settings: LaunchSettings, hooks: LaunchHooks, log: Log) {
    this.#settings = settings;
    this.#hooks = hooks;
    this.#log = log;
  }

  launch(purpose: Purpose, files: Pick<Load, "without" | "first">): Slot {
    const { env, dir, permissions, stopTimeoutMs, saveEveryMs, logLevel, stuckMs, service } = this.#settings;
    const { onMessage, onAlive, onStuck, onGone } = this.#hooks;
    const { args, heapForBytes } = this.#heapFor(purpose);
    const process = new SlotProcess({
      leash: this.#leash,
      args,
      env,
      onAlive: () => onAlive(slot),
      onLine: (stream, text) => this.#log.info({ event: "slot-output", stream, slot: process.pid }, text),
      onMessage: (message) => onMessage(slot, message),
      onStuck: (word) => onStuck(slot, word),
      onBroken: (why) => {
        slot.lastWord = { name: "SlotWireError", message: `the slot's pipe to its service was tampered with: ${why}` };
        this.#log.error(
          { event: "slot-broken", slot: process.pid, why },
          "a slot sent something that it must not: it is ended",
        );
      },
      onPipeHeld: () =>
        this.#log.warn(
          { event: "slot-pipe-held", slot: process.pid },
          "a process that an observer started outlives its slot and keeps a pipe of it open: it is not waited for, and the pipe is closed",
        ),
      onGone: (end) => {
        this.#sweeper.forget(process.pid);
        onGone(slot, end);
      },
    });
    this.#sweeper.watch(process.pid);
    const slot = newSlot(process, purpose, heapForBytes, files.first);
    process.tellLease(this.#lease);
    process.send({ kind: "load", dir, ...files, permissions, stopTimeoutMs, saveEveryMs, logLevel, stuckMs, service });
    process.send({ kind: "hold-silence", isHeld: this.#isSilenceHeld });
    return slot;
  }

  /** The heap is never smaller than the general limit, as the run that the slot was started for may leave it to others. */
  #heapFor(purpose: Purpose): { args: readonly string[]; heapForBytes: number } {
    const { args, memoryBytes, isHeapLimited = false } = this.#settings;
    if (!isHeapLimited) return { args, heapForBytes: Number.POSITIVE_INFINITY };
    const heapForBytes = Math.max(memoryBytes, memoryWishOf(purpose) ?? 0);
    return { args: [`--max-old-space-size=${heapLimitMib(heapForBytes)}`, ...args], heapForBytes };
  }

  /**
   * Passes the lease to every slot's watchdog, and to later ones. `null` means that nothing runs that would need a lease.
   */
  tellLease(word: LeaseWord, slots: Iterable<Slot>): void {
    this.#lease = word;
    for (const { process } of slots) process.tellLease(word);
  }

  holdSilence(isHeld: boolean, slots: Iterable<Slot>): void {
    this.#isSilenceHeld = isHeld;
    for (const { process } of slots) process.send({ kind: "hold-silence", isHeld });
  }
}
