import type { ErrorText } from "@unacked/contracts";
import { thrownText } from "../error-text.ts";
import { type Owner, runAs } from "../isolation.ts";
import { RepeatedErrors } from "./repeated-errors.ts";

/** @param times how often it was thrown since it was told last */
export type TellFileError = (file: string, error: ErrorText, times: number) => void;

/**
 * Answers for what a file of observers does by itself: timers, sockets and promises of its top level. Nobody's run has done it, and
 * every slot that has loaded the file does it too: it is told with the file's name, and costs nobody anything.
 */
export class FileOwner implements Owner {
  readonly file: string;
  readonly #errors: RepeatedErrors;

  constructor(file: string, tell: TellFileError) {
    this.file = file;
    this.#errors = new RepeatedErrors((error, times) => tell(file, thrownText(error), times));
  }

  /** What `load` starts is this file's from now on. */
  run<Result>(load: () => Result): Result {
    return runAs(this, load);
  }

  uncaught(error: unknown): void {
    this.#errors.note(error);
  }
}
