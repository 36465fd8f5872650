import type { SlotReport } from "@unacked/contracts";
import type { Log } from "../../../log.ts";
import type { FromSlot, LeaseWord, LoadedFolder, Stuck } from "../../../wire/messages.ts";
import { within } from "../../../within.ts";
import { ownFrames } from "../blame/told-stack.ts";
import type { SlotEnd } from "../process/slot-process.ts";
import { lastWordsOf, memoryOf, reportOf, type Slot } from "../slot.ts";
import { openDescriptors } from "../slot-descriptors.ts";
import type { SlotsMemory } from "../slot-history.ts";
import { FolderLook, type Look } from "./folder-look.ts";
import { SlotFolder } from "./slot-folder.ts";
import { type LaunchSettings, SlotLauncher } from "./slot-launcher.ts";
import { SlotPauses } from "./slot-pauses.ts";
import { hasCode, type SlotRoster } from "./slot-roster.ts";
import { type SlotCounts, SlotStock } from "./slot-stock.ts";
import { SlotWatch, type SlotWatchParts } from "./slot-watch.ts";

export type SlotSettings = LaunchSettings & SlotCounts;

export interface SlotSupplyHooks extends Pick<SlotWatchParts, "onOverLimit" | "onFrozen"> {
  onMessage(slot: Slot, message: LoadedMessage): void;
  onStuck(slot: Slot, word: Stuck): void;
  onGone(slot: Slot, end: SlotEnd): void;
  /** A slot has loaded, so runs that wait for one may go on. */
  onRoom(): void;
}

export type LoadedMessage = Exclude<FromSlot, { kind: "loaded" | "not-loaded" | "loading" | "lag" }>;

/** No slot could load the folder. The message is what the terminal should show. */
export class SlotsNotLoadedError extends Error {
  override readonly name = "SlotsNotLoadedError";
  readonly code = "observers-not-loaded";
}

/**
 * The slots, from their start to their end. Guarantees: a slot that dies is replaced at once, or, if it had not loaded anything, after a
 * growing pause.
 */
export class SlotSupply {
  /** How many slots there are, and for whom. */
  readonly stock: SlotStock;
  readonly roster: SlotRoster;
  /** The folder that slots load. */
  readonly folder: SlotFolder;
  readonly #settings: SlotSettings;
  readonly #hooks: SlotSupplyHooks;
  readonly #log: Log;
  readonly #launcher: SlotLauncher;
  readonly #watch: SlotWatch;
  readonly #look = new FolderLook(() => this.stock.start({ kind: "spare" }));
  readonly #pauses: SlotPauses;
  #opening: { resolve(folder: LoadedFolder): void; reject(error: Error): void } | undefined;

  constructor(settings: SlotSettings, hooks: SlotSupplyHooks, log: Log) {
    this.#settings = settings;
    this.#hooks = hooks;
    this.#log = log;
    const { memoryBytes, stuckMs, count } = settings;
    this.folder = new SlotFolder(memoryBytes, log);
    this.#pauses = new SlotPauses(() => this.#refill(), log);
    const onStuck = (slot: Slot, word: Stuck) => (slot.isLoaded ? hooks.onStuck(slot, word) : stuckInFile(slot, word));
    const onAlive = (slot: Slot) => this.#watch.heard(slot);
    const onMessage = (slot: Slot, message: FromSlot) => this.#take(slot, message);
    const onGone = (slot: Slot, end: SlotEnd) => this.#gone(slot, end);
    this.#launcher = new SlotLauncher(settings, { onAlive, onMessage, onStuck, onGone }, log);
    this.stock = new SlotStock({
      ...{ counts: settings, launcher: this.#launcher, folder: this.folder, pauses: this.#pauses },
      onRoom: () => hooks.onRoom(),
      onNotStarted: (why) => this.#notStarted(why),
    });
    this.roster = this.stock.roster;
    const { slots } = this.roster;
    this.#watch = new SlotWatch({ slots, count, memoryBytes, silentLimitMs: 2 * stuckMs, ...hooks });
  }

  /**
   * Resolves when all shared slots have loaded the folder, so that the first runs are spread over them. @throws
   * SlotsNotLoadedError
   */
  open(): Promise<LoadedFolder> {
    return new Promise((resolve, reject) => {
      this.#opening = { resolve, reject };
      for (let i = 0; i < this.#settings.count && !this.stock.isClosed; i += 1) this.stock.start({ kind: "shared" });
      this.#watch.start();
    });
  }

  /**
   * Makes one extra slot load the folder as it is now, with what was left out. Nothing is placed in it: it has to be adopted, or killed.
   * One at a time.
   */
  look(): Promise<Look> {
    this.folder.tryAgain();
    return this.#look.begin();
  }

  /**
   * Its code is the newest, so it is the first of the slots that take starts, and slots with other code take no more. Until it is
   * needed it is the spare, so no other is.
   */
  adopt(slot: Slot, { code }: LoadedFolder, isEmpty: (slot: Slot) => boolean): void {
    this.folder.adopt(code);
    for (const other of [...this.roster.slots].filter((one) => one !== slot)) {
      if (other.purpose.kind !== "spare" && hasCode(other, code)) continue;
      other.isOld = true;
      if (!other.isLoaded || isEmpty(other)) other.process.kill();
    }
    slot.isOnTrial = false;
    this.#pauses.endRest();
    slot.sinceMs = performance.now();
    this.stock.fill();
    this.#hooks.onRoom();
  }

  /** All that live. @param runsOf how many run in one */
  report(runsOf: (slot: Slot) => number): SlotReport[] {
    return [...this.roster.slots].map((slot) => reportOf(slot, runsOf(slot)));
  }

  /** @param leavingPart how much of what runs in a slot of older code leaves it before long */
  memory(leavingPart: (slot: Slot) => number): SlotsMemory {
    return this.#watch.memory(leavingPart);
  }

  /** Passes the lease to every slot's watchdog. `null` means that nothing runs that would need a lease. */
  tellLease(word: LeaseWord): void {
    this.#launcher.tellLease(word, this.roster.slots);
  }

  /** Applies to every slot, and to later ones. */
  holdSilence(isHeld: boolean): void {
    this.#launcher.holdSilence(isHeld, this.roster.slots);
  }

  /** Lets each slot send its traces, and ends them all. */
  async close(limitMs = 0): Promise<void> {
    this.stock.close();
    this.#watch.stop();
    const gone = [...this.roster.slots].map(({ process }) => {
      process.send({ kind: "end", limitMs });
      return process.gone;
    });
    if (limitMs > 0) await within(limitMs, Promise.all(gone));
    for (const { process } of this.roster.slots) process.kill();
  }

  #notStarted(why: string): void {
    if (this.#opening !== undefined) return this.#giveUp(`a slot could not be started: ${why}`);
    this.#pauses.notStarted(why);
  }

  /** A pause is over, so missing slots are started. */
  #refill(): void {
    if (this.stock.isClosed) return;
    this.stock.fill();
    this.#hooks.onRoom();
  }

  #take(slot: Slot, message: FromSlot): void {
    switch (message.kind) {
      case "lag":
        slot.lag.tell(message.lagMs);
        slot.toldMemoryBytes = message.memoryBytes ?? 0;
        return;
      case "loaded":
        return this.#loaded(slot, message);
      case "not-loaded":
        return this.#notLoaded(slot, message.problem);
      case "loading":
        if (!slot.isLoaded) slot.loading = message.file; // later it could only come from an author who writes to the slot's descriptors
        return;
      case "unattributed":
        if (!slot.isLoaded || slot.isOnTrial || this.#opening !== undefined) slot.lastWord = message.error;
        return this.#opening !== undefined || slot.isOnTrial ? undefined : this.#hooks.onMessage(slot, message);
      default:
        return this.#hooks.onMessage(slot, message);
    }
  }

  #loaded(slot: Slot, { kind: _kind, ...folder }: LoadedFolder & { kind: "loaded" }): void {
    slot.isLoaded = true;
    slot.loading = undefined;
    slot.loadedBytes = memoryOf(slot);
    slot.loadedDescriptors = openDescriptors(slot.process.pid);
    this.folder.loadedBy(slot, folder);
    if (this.#look.isBy(slot)) return this.#look.answer({ slot, folder });
    this.#pauses.reset();
    this.#log.debug({ event: "slot-loaded", slot: slot.process.pid, purpose: slot.purpose.kind }, "a slot is ready");
    if (this.#opening !== undefined) {
      if (this.roster.shared.length < this.#settings.count) return;
      this.folder.opened(folder.code);
      this.#opening.resolve(folder);
      this.#opening = undefined;
    } else this.folder.tellLacking(slot, folder);
    this.stock.fill();
    this.#hooks.onRoom();
  }

  #notLoaded(slot: Slot, problem: string): void {
    if (this.stock.isClosed) return;
    if (this.#look.isBy(slot)) return this.#look.answer({ problem });
    if (this.#opening !== undefined) return this.#giveUp(problem);
    this.#log.error({ event: "slot-not-loaded", problem }, "a new slot could not load anything to run");
    slot.process.kill();
  }

  #giveUp(problem: string): void {
    void this.close();
    this.#opening?.reject(new SlotsNotLoadedError(problem));
  }

  #gone(slot: Slot, end: SlotEnd): void {
    this.roster.slots.delete(slot);
    slot.living.abort();
    if (this.stock.isClosed) return;
    const found = this.folder.endedBy(slot, end);
    if (found?.isLeftOut) this.#pauses.reset();
    if (this.#look.isBy(slot)) {
      const problem = `it ended while it loaded ${slot.loading?.file ?? "the files"}: ${lastWordsOf(slot, end)}`;
      // A file that may be to blame is loaded before the others in the next slot. If none was blamed yet, this is the answer.
      if (found !== undefined && (found.isLeftOut || slot.loadsFirst.includes(found.file))) this.#look.again();
      else this.#look.answer({ problem });
    }
    if (!slot.isLoaded && this.#opening !== undefined) {
      if (found !== undefined && !this.folder.isHopeless) return void this.stock.start(slot.purpose); // no single file ends many slots
      return this.#giveUp(`a slot ended before it had loaded anything: ${lastWordsOf(slot, end)}`);
    }
    const isAsMeant = slot.isLoaded || slot.isOld || slot.isOnTrial;
    if (!isAsMeant) this.#pauses.rest(lastWordsOf(slot, end), slot.process.pid);
    this.#hooks.onGone(slot, end);
    if (isAsMeant) this.stock.fill();
  }
}

/** No handler has begun in it, so the top level of a file holds it, and that will not load. */
function stuckInFile(slot: Slot, { forMs, stack }: Stuck): void {
  const place = stack && ownFrames(stack).split("\n")[0]?.trim();
  const where = place || "in what cannot be told: see which file was changed last";
  slot.lastWord = {
    name: "FileBlocksError",
    message: `a file has blocked its event loop for ${Math.round(forMs)} ms outside of its handlers, ${where}`,
  };
  slot.process.kill();
}
