import { setTimeout as sleep } from "node:timers/promises";
import { CliFailure } from "../failure.ts";
import type { Io } from "../io.ts";
import { plainLine } from "../output/plain-text.ts";

/** The pause between two attempts to read or to follow. */
const PAUSE_MS = 500;

/** Tells once that the manager cannot be reached while something is waited for, until it answers again. */
export class LostConnection {
  readonly #io: Pick<Io, "err">;
  #isTold = false;

  constructor(io: Pick<Io, "err">) {
    this.#io = io;
  }

  /** Throws every other failure. */
  tell(error: unknown): undefined {
    if (!(error instanceof CliFailure) || error.exitKind !== "unreachable") throw error;
    if (!this.#isTold) this.#io.err(plainLine(`The connection was lost (${error.message}); trying again.`));
    this.#isTold = true;
  }

  over(): void {
    this.#isTold = false;
  }

  /**
   * Follows until the signal comes, even if the first attempt reaches nobody: the manager has just answered, and mostly begun what is
   * waited for. Rejects on a refusal.
   */
  async *follow<News>(open: (signal: AbortSignal) => AsyncGenerator<News>, signal: AbortSignal): AsyncGenerator<News> {
    while (!signal.aborted) {
      try {
        return yield* open(signal);
      } catch (error) {
        this.tell(error);
      }
      await this.#pause(signal);
    }
  }

  /** Reads until there is an answer. Undefined means that the signal came first; it ends the call, too. Rejects on a refusal. */
  async untilAnswered<View>(read: (signal: AbortSignal) => Promise<View>, signal: AbortSignal): Promise<View | undefined> {
    while (!signal.aborted) {
      const view = await read(signal).catch((error: unknown) => (signal.aborted ? undefined : this.tell(error)));
      if (view !== undefined) return view;
      await this.#pause(signal);
    }
    return undefined;
  }

  /** The signal ends it early. */
  async #pause(signal: AbortSignal): Promise<void> {
    await sleep(PAUSE_MS, undefined, { signal }).catch(() => undefined);
  }
}
