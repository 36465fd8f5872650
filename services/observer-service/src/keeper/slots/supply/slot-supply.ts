import type { SlotReport } from "@unacked/contracts";
import type { Log } from "../../../log.ts";
import type { FromSlot, LeaseWord, LoadedFolder, Stuck } from "../../../wire/messages.ts";
import { within } from "../../../within.ts";
import { ownFrames } from "../blame/told-stack.ts";
import { type SlotEnd, SlotNotStartedError } from "../process/slot-process.ts";
import { isOfUse, lastWordsOf, memoryOf, type OwnPurpose, type Purpose, reportOf, type Slot, suits } from "../slot.ts";
import { openDescriptors } from "../slot-descriptors.ts";
import type { SlotsMemory } from "../slot-history.ts";
import { FolderLook, type Look } from "./folder-look.ts";
import { SlotFolder } from "./slot-folder.ts";
import { type LaunchSettings, SlotLauncher } from "./slot-launcher.ts";
import { SlotPauses } from "./slot-pauses.ts";
import { hasCode, SlotRoster } from "./slot-roster.ts";
import { SlotWatch, type SlotWatchParts } from "./slot-watch.ts";

export interface SlotSettings extends LaunchSettings {
  /** Slots that observers share, as long as nobody is suspected. */
  readonly count: number;
  /** All of them: shared, of suspects, of guilty ones, and the warm spare. */
  readonly max: number;
}

export interface SlotSupplyHooks extends Pick<SlotWatchParts, "onOverLimit" | "onFrozen"> {
  onMessage(slot: Slot, message: LoadedMessage): void;
  onStuck(slot: Slot, word: Stuck): void;
  onGone(slot: Slot, end: SlotEnd): void;
  /** A slot has loaded: what waits for one may go on. */
  onRoom(): void;
}

export type LoadedMessage = Exclude<FromSlot, { kind: "loaded" | "not-loaded" | "loading" | "lag" }>;

/** No slot could load the folder: what the terminal should say. */
export class SlotsNotLoadedError extends Error {
  override readonly name = "SlotsNotLoadedError";
  readonly code = "observers-not-loaded";
}

/** A slot that has not loaded by then may never: the spare is not kept waiting for it. */
const LOADS_WITHIN_MS = 10_000;

/**
 * Keeps as many slots up as there should be, and one spare that is warm. A slot that dies is replaced at once; one that dies
 * before it has loaded anything, after a growing pause.
 */
export class SlotSupply {
  readonly roster: SlotRoster;
  /** What slots load. */
  readonly folder: SlotFolder;
  readonly #settings: SlotSettings;
  readonly #hooks: SlotSupplyHooks;
  readonly #log: Log;
  readonly #launcher: SlotLauncher;
  readonly #watch: SlotWatch;
  readonly #look = new FolderLook(() => this.#spawn({ kind: "spare" }));
  readonly #pauses: SlotPauses;
  #opening: { resolve(folder: LoadedFolder): void; reject(error: Error): void } | undefined;
  #isClosed = false;

  constructor(settings: SlotSettings, hooks: SlotSupplyHooks, log: Log) {
    this.#settings = settings;
    this.roster = new SlotRoster(settings);
    this.#hooks = hooks;
    this.#log = log;
    const { memoryBytes, stuckMs, count } = settings;
    this.folder = new SlotFolder(memoryBytes, log);
    this.#pauses = new SlotPauses(() => this.#refill(), log);
    this.#watch = new SlotWatch({ slots: this.roster.slots, count, memoryBytes, silentLimitMs: 2 * stuckMs, ...hooks });
    const onStuck = (slot: Slot, word: Stuck) => (slot.isLoaded ? hooks.onStuck(slot, word) : stuckInFile(slot, word));
    const onAlive = (slot: Slot) => this.#watch.heard(slot);
    const onMessage = (slot: Slot, message: FromSlot) => this.#take(slot, message);
    const onGone = (slot: Slot, end: SlotEnd) => this.#gone(slot, end);
    this.#launcher = new SlotLauncher(settings, { onAlive, onMessage, onStuck, onGone }, log);
  }

  /** Resolves when all shared slots have loaded the folder: what comes first is spread over them. @throws SlotsNotLoadedError */
  open(): Promise<LoadedFolder> {
    return new Promise((resolve, reject) => {
      this.#opening = { resolve, reject };
      for (let i = 0; i < this.#settings.count && !this.#isClosed; i += 1) this.#spawn({ kind: "shared" });
      this.#watch.start();
    });
  }

  /**
   * Has one slot more load the folder as it is now, beside all others, and with what was left out. Nothing is placed in it: it is to be adopted, or killed. One at a time.
   */
  look(): Promise<Look> {
    this.folder.tryAgain();
    return this.#look.begin();
  }

  /**
   * Its code is the newest: it is the first of the slots that take starts, and who has other code takes none any more. It is the spare
   * until it is needed, so no other is.
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
    this.#fill();
    this.#hooks.onRoom();
  }

  /**
   * A slot of this purpose, started or made of the spare if there is none; undefined: there may be no more.
   *
   * @param isFull it takes no more of them
   */
  slotFor(purpose: OwnPurpose, isFull: (slot: Slot) => boolean = () => false): Slot | undefined {
    const existing = this.roster.existing(purpose, isFull);
    if (existing !== undefined) return existing;
    const { spare } = this.roster;
    if (spare !== undefined && suits(spare, purpose) && this.roster.hasRoomFor(purpose)) {
      spare.purpose = purpose;
      spare.sinceMs = performance.now();
      this.#fill();
      return spare;
    }
    if (!this.isWorthOneMore(purpose)) return undefined;
    if (this.roster.mayStart(purpose)) return this.#spawn(purpose);
    // Its place is needed. When it is gone this is asked again.
    if (spare?.isLoaded && this.roster.hasRoomFor(purpose)) spare.process.kill();
    return undefined;
  }

  /** One that is started now is likely to load, and to have its type. */
  isWorthOneMore(purpose: OwnPurpose): boolean {
    return !this.#pauses.isResting && !this.folder.lacks(purpose);
  }

  /** It was kept for some alone, and is not any more: it is shared, where a shared one is missing or something runs in it; else it is ended. */
  release(slot: Slot, isEmpty: boolean): void {
    const sharedNow = [...this.roster.slots].filter(({ purpose }) => purpose.kind === "shared").length;
    slot.purpose = { kind: "shared" };
    if (isEmpty && sharedNow >= this.#settings.count) slot.process.kill();
  }

  /** The run that this slot was started for was stopped before it had loaded: it becomes the spare, or is ended. */
  takeBack(slot: Slot): void {
    if (this.roster.spare === undefined) slot.purpose = { kind: "spare" };
    else slot.process.kill();
  }

  /** It takes nobody any more, and another takes its place. */
  retire(slot: Slot): void {
    slot.isRetired = true;
    this.#fill();
  }

  /** The same, but what runs in it may stay. @param why it is spoilt */
  setAside(slot: Slot, why: string): void {
    slot.isOld = true;
    slot.spoilt = why;
    this.#fill();
  }

  /** All that live. @param runsOf how many run in one */
  report(runsOf: (slot: Slot) => number): SlotReport[] {
    return [...this.roster.slots].map((slot) => reportOf(slot, runsOf(slot)));
  }

  /** @param leavingPart how much of what runs in a slot of older code leaves it before long */
  memory(leavingPart: (slot: Slot) => number): SlotsMemory {
    return this.#watch.memory(leavingPart);
  }

  /** To every slot's watchdog; `null`: nothing runs that a lease would have to hold for. */
  tellLease(word: LeaseWord): void {
    this.#launcher.tellLease(word, this.roster.slots);
  }

  /** Of every slot, and of those that come. */
  holdSilence(isHeld: boolean): void {
    this.#launcher.holdSilence(isHeld, this.roster.slots);
  }

  /** Lets each send what it has traced, and ends them all. */
  async close(limitMs = 0): Promise<void> {
    this.#isClosed = true;
    this.#watch.stop();
    const gone = [...this.roster.slots].map(({ process }) => {
      process.send({ kind: "end", limitMs });
      return process.gone;
    });
    if (limitMs > 0) await within(limitMs, Promise.all(gone));
    for (const { process } of this.roster.slots) process.kill();
  }

  /** As many shared ones as there should be, the spare taken first, and a spare again. */
  #fill(): void {
    if (this.#isClosed) return;
    const { count, max } = this.#settings;
    const living = [...this.roster.slots].filter(isOfUse);
    let missing = count - living.filter(({ purpose }) => purpose.kind === "shared").length;
    const spare = this.roster.spare;
    if (missing > 0 && spare !== undefined && this.roster.slots.size <= this.roster.sharedLimit) {
      spare.purpose = { kind: "shared" };
      missing -= 1;
      if (spare.isLoaded) this.#hooks.onRoom();
    }
    // One that has been killed counts until it is reaped: then this is asked again.
    for (; missing > 0 && this.roster.slots.size < this.roster.sharedLimit; missing -= 1) this.#spawn({ kind: "shared" });
    // A start takes a core for a moment: those that are waited for come first. When they have loaded, this is asked again.
    const isWaitedFor = [...this.roster.slots].some(
      (slot) => !slot.isLoaded && Date.now() - slot.startedAtMs < LOADS_WITHIN_MS,
    );
    if (this.roster.spare === undefined && !isWaitedFor && this.roster.slots.size < max) this.#spawn({ kind: "spare" });
  }

  /** Undefined: the system lets us start no more processes. Runs that need one wait until it does. */
  #spawn(purpose: Purpose): Slot | undefined {
    try {
      const slot = this.#launcher.launch(purpose, this.folder.toLoad());
      this.roster.slots.add(slot);
      return slot;
    } catch (error) {
      if (!(error instanceof SlotNotStartedError)) throw error;
      this.#notStarted(error.message);
      return undefined;
    }
  }

  #notStarted(why: string): void {
    if (this.#opening !== undefined) return this.#giveUp(`a slot could not be started: ${why}`);
    this.#pauses.notStarted(why);
  }

  /** A pause is over. */
  #refill(): void {
    if (this.#isClosed) return;
    this.#fill();
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
        if (!slot.isLoaded) slot.loading = message.file; // afterwards it is the word of an author, who writes to its descriptors
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
    this.#fill();
    this.#hooks.onRoom();
  }

  #notLoaded(slot: Slot, problem: string): void {
    if (this.#isClosed) return;
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
    if (this.#isClosed) return;
    const found = this.folder.endedBy(slot, end);
    if (found?.isLeftOut) this.#pauses.reset();
    if (this.#look.isBy(slot)) {
      const problem = `it ended while it loaded ${slot.loading?.file ?? "the files"}: ${lastWordsOf(slot, end)}`;
      // One of several that may be to blame is loaded before the others now; what none has been blamed for yet is the answer.
      if (found !== undefined && (found.isLeftOut || slot.loadsFirst.includes(found.file))) this.#look.again();
      else this.#look.answer({ problem });
    }
    if (!slot.isLoaded && this.#opening !== undefined) {
      if (found !== undefined && !this.folder.isHopeless) return void this.#spawn(slot.purpose); // no file ends many
      return this.#giveUp(`a slot ended before it had loaded anything: ${lastWordsOf(slot, end)}`);
    }
    const isAsMeant = slot.isLoaded || slot.isOld || slot.isOnTrial;
    if (!isAsMeant) this.#pauses.rest(lastWordsOf(slot, end), slot.process.pid);
    this.#hooks.onGone(slot, end);
    if (isAsMeant) this.#fill();
  }
}

/** No handler has begun in it: what holds it is the top level of a file, and it will not load. */
function stuckInFile(slot: Slot, { forMs, stack }: Stuck): void {
  const place = stack && ownFrames(stack).split("\n")[0]?.trim();
  const where = place || "in what cannot be told: see which file was changed last";
  slot.lastWord = {
    name: "FileBlocksError",
    message: `a file has blocked its event loop for ${Math.round(forMs)} ms outside of its handlers, ${where}`,
  };
  slot.process.kill();
}
