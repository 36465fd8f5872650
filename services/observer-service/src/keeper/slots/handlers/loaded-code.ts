import type { Catalogue, LoadedFolder } from "../../../wire/messages.ts";
import type { Outdated, Reload } from "../../runs/handlers.ts";
import type { Occupants } from "../placement/occupants.ts";
import { isInLine, type Placed } from "../placement/placed.ts";
import type { Placement } from "../placement/placement.ts";
import type { SlotNeeds } from "../placement/slot-needs.ts";
import type { Slot } from "../slot.ts";
import type { SlotSupply } from "../supply/slot-supply.ts";

/** The answer while new slots are still waited for. */
const NOT_YET: Outdated = { isReady: false, isApart: false, begin: () => undefined };

export interface LoadedCodeParts {
  readonly supply: SlotSupply;
  readonly needs: Pick<SlotNeeds, "isolate">;
  readonly occupants: Occupants;
  readonly placement: Placement;
  /** For a run without a slot: it begins in one, or waits. */
  readonly place: (placed: Placed) => void;
}

/** The code that slots have loaded, and what happens to slots and runs when the folder is loaded again. */
export class LoadedCode {
  readonly #parts: LoadedCodeParts;
  #catalogue: Catalogue | undefined;
  /** The files whose types exist. */
  #files: ReadonlySet<string> = new Set();

  constructor(parts: LoadedCodeParts) {
    this.#parts = parts;
  }

  /** The catalogue, together with the files that have ended slots since. */
  get catalogue(): Catalogue {
    if (this.#catalogue === undefined) throw new Error("The slots are not open yet.");
    const { leftOut } = this.#parts.supply.folder;
    if (leftOut.length === 0) return this.#catalogue;
    const { broken } = this.#catalogue;
    const more = leftOut.filter(({ file }) => !broken.some((one) => one.file === file));
    return { ...this.#catalogue, broken: [...broken, ...more.map(({ file, problem }) => ({ file, problem }))] };
  }

  learn({ isolation, code, ...catalogue }: LoadedFolder): void {
    this.#catalogue = catalogue;
    this.#files = new Set(code.map(({ file }) => file));
    this.#parts.needs.isolate(isolation);
  }

  async reload(): Promise<Reload> {
    const { supply, occupants } = this.#parts;
    const look = await supply.look();
    if ("problem" in look) return { kind: "refused", why: look.problem, broken: [] };
    const { slot, folder } = look;
    const broken = folder.broken.filter(({ file }) => this.#files.has(file));
    const before = supply.folder.prints;
    if (broken.length > 0 || (supply.roster.hasAll(folder.code) && folder.code.length === before.size)) {
      slot.process.kill();
      if (broken.length > 0) return { kind: "refused", why: "a file does not load", broken };
      this.learn(folder); // other files may be broken, or in another way
      return { kind: "unchanged" };
    }
    this.learn(folder);
    supply.adopt(slot, folder, (one) => occupants.countIn(one) === 0);
    for (const old of supply.roster.slots) if (old.isOld) this.recallIn(old);
    // It runs a turn later, when the part that asked for the load knows the types: runs that are released begin again, and
    // end by what is known then.
    setImmediate(() => this.#letGoOfUnknown());
    const now = supply.folder.prints;
    const changed = [...now].filter(([type, print]) => before.has(type) && before.get(type) !== print).map(([type]) => type);
    const added = [...now.keys()].filter((type) => !before.has(type));
    const gone = [...before.keys()].filter((type) => !now.has(type));
    // Slots that still load, or have loaded something else since, are replaced all the same.
    if (changed.length + added.length + gone.length === 0) return { kind: "unchanged" };
    return { kind: "loaded", changed, added, gone };
  }

  /** Runs that stand behind others begin elsewhere, as this slot takes no more. */
  recallIn(slot: Slot): void {
    // The last goes first: before a run is recalled none behind it may get its turn.
    for (const placed of this.#parts.occupants.in(slot).toReversed()) if (isInLine(placed)) placed.recall?.();
  }

  outdated(isPatient: boolean): Outdated[] {
    const { supply, placement } = this.#parts;
    if (isPatient && !supply.roster.isStaffed) return this.#outdated().map(() => NOT_YET);
    return this.#outdated().map((placed) => {
      const { run, host } = placed;
      const { isReady, isApart } = placement.readinessFor(run.start);
      // For a run that needs a slot of its own there may never be a warm one. Then it waits for one without running.
      const mayWait = isApart && !isPatient && !isReady && this.#willHaveRoom(placed);
      return { isReady: isReady || mayWait, isApart, begin: () => host.onRenewed?.(run) };
    });
  }

  /**
   * A run that is stopped without room for it would wait for as long as all others stay, so it goes on with its old code.
   */
  #willHaveRoom({ run, slot }: Placed): boolean {
    const { supply, occupants, placement } = this.#parts;
    if (placement.noRoomFor(run.start) === undefined) return true;
    return slot !== undefined && occupants.countIn(slot) === 1 && supply.roster.willHaveRoomForOne;
  }

  #outdated(): Placed[] {
    const { supply, occupants } = this.#parts;
    const now = supply.folder.prints;
    return [...supply.roster.slots]
      .filter(({ isOld, process }) => isOld && !process.isKilled)
      .flatMap((slot) =>
        occupants.in(slot).filter(({ cause, host, run: { start } }) => {
          const print = now.get(start.type);
          const mayBegin = cause === undefined && host.onRenewed !== undefined;
          return mayBegin && print !== undefined && print !== slot.prints.get(start.type);
        }),
      );
  }

  /** No slot will ever come for a type that is gone. */
  #letGoOfUnknown(): void {
    const { supply, placement, place } = this.#parts;
    for (const placed of placement.takeWaiting()) {
      const isKnown = supply.folder.prints.has(placed.run.start.type);
      if (isKnown || placed.host.onRenewed !== undefined) place(placed);
      else placed.host.onInterrupted(placed.run, { detail: "its type is gone from the folder" });
    }
  }
}
