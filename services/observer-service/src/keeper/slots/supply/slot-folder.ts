import type { Log } from "../../../log.ts";
import type { DeadlyFile, Load, LoadedFolder } from "../../../wire/messages.ts";
import { DeadlyFiles } from "../blame/deadly-files.ts";
import type { SlotEnd } from "../process/slot-process.ts";
import { lastWordsOf, type OwnPurpose, type Slot } from "../slot.ts";
import { limitBeside } from "../slot-memory.ts";

/** The folder of observers as slots load it: which code is the newest, what new slots do without, and what a slot that came later has not found. */
export class SlotFolder {
  /** What a slot may take that has no limit of its own. */
  readonly #memoryBytes: number;
  readonly #log: Log;
  readonly #deadly = new DeadlyFiles();
  #prints: ReadonlyMap<string, string> = new Map();
  /** Types that the folder had when it was loaded for all, and has not as it was found last. */
  #lacking: ReadonlySet<string> = new Set();
  #isToldOfMemory = false;

  constructor(memoryBytes: number, log: Log) {
    this.#memoryBytes = memoryBytes;
    this.#log = log;
  }

  /** By type: the print of the newest code. */
  get prints(): ReadonlyMap<string, string> {
    return this.#prints;
  }

  /** Files that slots do without. */
  get leftOut(): readonly DeadlyFile[] {
    return this.#deadly.lacking;
  }

  /** For a slot that is started now. */
  toLoad(): Pick<Load, "without" | "first"> {
    return { without: this.#deadly.all(), first: this.#deadly.first() };
  }

  /** What was left out is loaded again, once. */
  tryAgain(): void {
    this.#deadly.tryAgain();
  }

  /** All have loaded it: this is the newest code. */
  opened(code: LoadedFolder["code"]): void {
    this.#prints = printsOf(code);
  }

  /** There is newer code: this. */
  adopt(code: LoadedFolder["code"]): void {
    this.opened(code);
    this.#lacking = new Set();
    this.#isToldOfMemory = false;
  }

  loadedBy(slot: Slot, { broken, code }: LoadedFolder): void {
    this.#deadly.loaded(broken.map(({ file }) => file));
    this.#tellOfMemory(slot);
    slot.prints = printsOf(code);
    this.#lacking = new Set([...this.#prints.keys()].filter((type) => !slot.prints.has(type)));
  }

  /** A new slot would not have it either. */
  lacks(purpose: OwnPurpose): boolean {
    return purpose.kind !== "suspects" && this.#lacking.has(purpose.type);
  }

  /** Says so where this slot, which was started since the folder was loaded for all, has not found all types: it loads the folder as it is by then. */
  tellLacking({ process }: Slot, { broken }: LoadedFolder): void {
    if (this.#lacking.size === 0) return;
    const lacks = [...this.#lacking];
    const why = broken.map(({ file, place, problem }) => `${place?.file ?? file}:${place?.line ?? 1}: ${problem}`);
    // With `unacked dev` too, which loads whatever is saved by itself.
    const until =
      "until it is mended and loaded again (unacked dev does so when it is saved; else SIGHUP, or unacked reload)";
    this.#log.error(
      { event: "slot-lacks-types", slot: process.pid, lacks },
      `the folder does not load as it did: observers of ${lacks.join(", ")} are not placed in this slot ${until}. ${why.join("; ")}`,
    );
  }

  /**
   * A slot has ended while it loaded.
   *
   * @returns the file that has ended it, or may have; undefined: that we have ended the slot, or somebody else has (the kernel, for memory), says nothing of the file
   */
  endedBy(slot: Slot, end: SlotEnd): { file: string; isLeftOut: boolean } | undefined {
    const { lastWord, loading, process } = slot;
    if (loading === undefined) return undefined;
    if ((process.isKilled || end.signal === "SIGKILL") && lastWord === undefined) return undefined;
    const why = lastWordsOf(slot, end);
    const isLeftOut = this.#deadly.note(loading, why, slot.loadsFirst[0] === loading.file);
    this.#log.error(
      { event: "slot-ended-by-file", slot: process.pid, file: loading.file, why, isLeftOut },
      isLeftOut
        ? "a file ends each slot that loads it: new slots leave it out until it is changed, the folder is loaded again, or ten minutes have passed"
        : "a slot ended while it loaded a file: the next slots load that file first, to find out whether it is the cause",
    );
    return { file: loading.file, isLeftOut };
  }

  /** It is not to be found out which file ends slots. */
  get isHopeless(): boolean {
    return this.#deadly.isHopeless;
  }

  /** Once: all slots load the same. */
  #tellOfMemory({ loadedBytes: bytes }: Slot): void {
    const limitBytes = this.#memoryBytes;
    if (this.#isToldOfMemory || limitBeside(limitBytes, bytes) === limitBytes) return;
    this.#isToldOfMemory = true;
    this.#log.warn(
      { event: "files-take-memory", bytes, limitBytes },
      "the loaded files alone use nearly all the memory that a slot may use, or more: raise SLOT_MEMORY_MB, or load less",
    );
  }
}

const printsOf = (code: LoadedFolder["code"]): ReadonlyMap<string, string> =>
  new Map(code.map(({ type, print }) => [type, print]));
