import type { ErrorText } from "@unacked/contracts";
import { thrownText } from "../error-text.ts";
import { type Owner, runAs } from "../isolation.ts";

/** A timer that throws a thousand times a second is not a thousand lines of log. */
const TELL_EVERY_MS = 1_000;

/** So often since it was told last: `times`. */
export type TellFileError = (file: string, error: ErrorText, times: number) => void;

/**
 * Answers for what a file of observers does by itself: timers, sockets and promises of its top level. Nobody's run has done it, and
 * every slot that has loaded the file does it too: it is told with the file's name, and costs nobody anything.
 */
export class FileOwner implements Owner {
  readonly #file: string;
  readonly #tell: TellFileError;
  #last: unknown;
  #times = 0;
  #pause: NodeJS.Timeout | undefined;

  constructor(file: string, tell: TellFileError) {
    this.#file = file;
    this.#tell = tell;
  }

  /** What `load` starts is this file's from now on. */
  run<Result>(load: () => Result): Result {
    return runAs(this, load);
  }

  uncaught(error: unknown): void {
    if (error === this.#last && typeof error === "object") return; // refused, and thrown on: process-guard.ts
    this.#last = error;
    this.#times += 1;
    if (this.#pause !== undefined) return;
    this.#tellNow();
    this.#pause = setInterval(() => this.#tellNow(), TELL_EVERY_MS).unref();
  }

  #tellNow(): void {
    if (this.#times === 0) {
      clearInterval(this.#pause);
      this.#pause = undefined;
      this.#last = undefined;
      return;
    }
    const times = this.#times;
    this.#times = 0;
    this.#tell(this.#file, thrownText(this.#last), times);
  }
}
