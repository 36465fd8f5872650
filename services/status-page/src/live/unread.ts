import type { CallError } from "../wire/call.ts";
import { Signal } from "./signal.ts";

/** An answer that is still shown, although it could not be read again. */
interface OldAnswer {
  failure: CallError;
  /** When it was read, by the browser's clock. */
  readAtMs: number;
}

/** What is shown and is not the present, by who asked for it: said once for the whole page, wherever it stands. */
export class Unread {
  readonly changed = new Signal();
  readonly #old = new Map<object, OldAnswer>();

  /** Null: what it shows is the present, or it shows nothing. */
  note(asker: object, old: OldAnswer | null): void {
    if (old === null && !this.#old.has(asker)) return;
    if (old === null) this.#old.delete(asker);
    else this.#old.set(asker, old);
    this.changed.tell();
  }

  /** What was read longest ago. */
  get oldest(): OldAnswer | undefined {
    return [...this.#old.values()].toSorted((a, b) => a.readAtMs - b.readAtMs)[0];
  }
}
