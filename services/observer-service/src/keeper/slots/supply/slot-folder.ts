import type { Log } from "../../../log.ts";
import type { DeadlyFile, Load, LoadedFolder } from "../../../wire/messages.ts";
import { DeadlyFiles } from "../blame/deadly-files.ts";
import type { SlotEnd } from "../process/slot-process.ts";
import { lastWordsOf, type OwnPurpose, type Slot } from "../slot.ts";
import { limitBeside } from "../slot-memory.ts";

/**
 * The folder of observers as slots load it: which code is the newest, which files new slots leave out, and which types a later slot has not
 * found.
 */
export class SlotFolder {
  /** The memory of a slot without a limit of its own. */
  readonly #memoryBytes: number;
  readonly #log: Log;
  readonly #deadly = new DeadlyFiles();
  #prints: ReadonlyMap<string, string> = new Map();
  /** Types that the folder had when it was loaded for all, but lacked when it was last loaded. */
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

  /** The files that slots leave out. */
  get leftOut(): readonly DeadlyFile[] {
    return this.#deadly.lacking;
  }

  /** What a slot that is started now has to load. */
  toLoad(): Pick<Load, "without" | "first"> {
    return { without: this.#deadly.all(), first: this.#deadly.first() };
  }

  /** Loads the files that were left out again, once. */
  tryAgain(): void {
    this.#deadly.tryAgain();
  }

  /** All slots have loaded this code, which is the newest. */
  opened(code: LoadedFolder["code"]): void {
    this.#prints = printsOf(code);
  }

  /** Takes this newer code as the newest. */
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

  /** Whether a new slot would lack the type, too. */
  lacks(purpose: OwnPurpose): boolean {
    return purpose.kind !== "suspects" && this.#lacking.has(purpose.type);
  }

  /**
   * Logs that this slot, which was started since the folder was loaded for all, has not found all types: it loads the folder as it is by
   * then.
   */
  tellLacking({ process }: Slot, { broken }: LoadedFolder): void {
    if (this.#lacking.size === 0) return;
    const lacks = [...this.#lacking];
    const why = broken.map(({ file, place, problem }) => `${place?.file ?? file}:${place?.line ?? 1}: ${problem}`);
    // Needed with `unacked dev` as well, which loads whatever is saved by itself.
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
   * @returns the file that has ended it, or may have; undefined if we have ended the slot, or somebody else has (the kernel, for memory)
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

  /** Whether the search for the file that ends slots has been given up. */
  get isHopeless(): boolean {
    return this.#deadly.isHopeless;
  }

  /** Logged once, as all slots load the same. */
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
