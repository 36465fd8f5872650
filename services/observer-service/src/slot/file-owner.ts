import type { ErrorText } from "@unacked/contracts";
import { thrownText } from "../error-text.ts";
import { type Owner, runAs } from "../isolation.ts";
import { RepeatedErrors } from "./repeated-errors.ts";

/** @param times how often it was thrown since it was told last */
export type TellFileError = (file: string, error: ErrorText, times: number) => void;

/**
 * Owns what a file of observers does by itself: timers, sockets and promises of its top level. No run has done it, and every slot
 * that has loaded the file does it, too. It is reported with the file's name, and no run fails by it.
 */
export class FileOwner implements Owner {
  readonly file: string;
  readonly #errors: RepeatedErrors;

  constructor(file: string, tell: TellFileError) {
    this.file = file;
    this.#errors = new RepeatedErrors((error, times) => tell(file, thrownText(error), times));
  }

  /** What `load` starts belongs to this file from now on. */
  run<Result>(load: () => Result): Result {
    return runAs(this, load);
  }

  uncaught(error: unknown): void {
    this.#errors.note(error);
  }
}
