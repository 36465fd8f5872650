import type { LoadedFolder } from "../../../wire/messages.ts";
import type { Slot } from "../slot.ts";

/** What a slot has found in the folder as it is now. */
export type Look = { readonly slot: Slot; readonly folder: LoadedFolder } | { readonly problem: string };

/** The time limit, as code that waits for something at its top level never finishes loading. */
const LIMIT_MS = 60_000;

/** Finds out whether the folder loads as it is now, by one extra slot, in which nothing is placed meanwhile. */
export class FolderLook {
  readonly #spawn: () => Slot | undefined;
  #now: { slot: Slot; answer(look: Look): void; again(): void } | undefined;

  /** @param spawn undefined: no slot could be started */
  constructor(spawn: () => Slot | undefined) {
    this.#spawn = spawn;
  }

  /** Looks run one at a time. */
  begin(): Promise<Look> {
    return new Promise((resolve) => this.#once(resolve));
  }

  isBy(slot: Slot): boolean {
    return slot === this.#now?.slot;
  }

  answer(look: Look): void {
    this.#now?.answer(look);
  }

  /** Its slot has ended, and another may succeed. */
  again(): void {
    this.#now?.again();
  }

  #once(resolve: (look: Look) => void): void {
    const slot = this.#spawn();
    if (slot === undefined) return resolve({ problem: "no slot could be started to load it: the service's log says why" });
    slot.isOnTrial = true;
    const end = (): void => {
      clearTimeout(limit);
      this.#now = undefined;
    };
    const answer = (look: Look): void => {
      end();
      if ("problem" in look) slot.process.kill();
      resolve(look);
    };
    const again = (): void => {
      end();
      this.#once(resolve);
    };
    const problem = `the files have not come to the end of loading within ${LIMIT_MS / 1_000} s`;
    const limit = setTimeout(() => answer({ problem }), LIMIT_MS);
    this.#now = { slot, answer, again };
  }
}
