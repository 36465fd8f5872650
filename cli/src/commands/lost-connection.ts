import { setTimeout as sleep } from "node:timers/promises";
import { CliFailure } from "../failure.ts";
import type { Io } from "../io.ts";
import { plainLine } from "../output/plain-text.ts";

/** Between two attempts at what could not be read, or followed. */
const PAUSE_MS = 500;

/** A manager that cannot be reached while something is waited for: told once, until it answers again. */
export class LostConnection {
  readonly #io: Pick<Io, "err">;
  #isTold = false;

  constructor(io: Pick<Io, "err">) {
    this.#io = io;
  }

  /** Throws what is another failure. */
  tell(error: unknown): undefined {
    if (!(error instanceof CliFailure) || error.exitKind !== "unreachable") throw error;
    if (!this.#isTold) this.#io.err(plainLine(`The connection was lost (${error.message}); trying again.`));
    this.#isTold = true;
  }

  over(): void {
    this.#isTold = false;
  }

  /**
   * Follows until the signal, also where the very first attempt finds nobody: whoever waits has just been answered, and has mostly begun what he
   * waits for. Rejects where it is refused.
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

  /** Reads until there is an answer. Undefined: the signal came first, which is for the call, too. Rejects where it is refused. */
  async untilAnswered<View>(read: (signal: AbortSignal) => Promise<View>, signal: AbortSignal): Promise<View | undefined> {
    while (!signal.aborted) {
      const view = await read(signal).catch((error: unknown) => (signal.aborted ? undefined : this.tell(error)));
      if (view !== undefined) return view;
      await this.#pause(signal);
    }
    return undefined;
  }

  /** Ends early with the signal. */
  async #pause(signal: AbortSignal): Promise<void> {
    await sleep(PAUSE_MS, undefined, { signal }).catch(() => undefined);
  }
}
