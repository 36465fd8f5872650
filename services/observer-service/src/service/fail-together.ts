import type { ObserverService } from "./observer-service.ts";

/**
 * A failure of one service of a process fails all of them: each is fenced and says farewell, and the process ends with the last of them.
 */
export class FailTogether {
  all: readonly Pick<ObserverService, "fail">[] = [];
  #isFailing = false;
  #left = 0;
  readonly #exit: (code: number) => void;

  constructor(exit: (code: number) => void = (code) => process.exit(code)) {
    this.#exit = exit;
  }

  /** If so, the process ends with exit code 1, after the last farewell, and not sooner with 0 because a drain is done. */
  get isFailing(): boolean {
    return this.#isFailing;
  }

  readonly onFail = (error: unknown): void => {
    if (this.#isFailing) return;
    this.#isFailing = true;
    this.#left = this.all.length;
    if (this.#left === 0) return this.#exit(1); // no service has been opened yet
    for (const service of this.all) void service.fail(error);
  };

  readonly onFailed = (): void => {
    this.#left -= 1;
    if (this.#left === 0) this.#exit(1);
  };
}
