import { CliFailure } from "../failure.ts";
import type { Io } from "../io.ts";
import { plainLine } from "../output/plain-text.ts";

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
}
