import type { ObserverView } from "@unacked/contracts";
import { CliFailure } from "../failure.ts";
import { ListPrinter, printOne } from "../output/list-printer.ts";
import { OBSERVER_LISTING } from "../output/observer-listings.ts";
import { plainLine, plainLines } from "../output/plain-text.ts";
import { Progress } from "../output/progress.ts";
import { failureText } from "../report.ts";
import type { Session } from "../session.ts";
import type { ResultFormat } from "./option-sets.ts";

/**
 * Tells the outcome of each of many: what was done on standard output, what was refused on standard error. `end` fails if
 * something was refused, for the exit code.
 */
export class Results {
  readonly #session: Session;
  readonly #format: ResultFormat;
  readonly #asked: number;
  readonly #isOne: boolean;
  readonly #progress: Progress;
  readonly #printer: ListPrinter<ObserverView>;
  readonly #refused: CliFailure[] = [];
  #told = 0;

  /** `isOne`: the observer is printed by itself, not as a list of one */
  constructor(session: Session, options: { format: ResultFormat; asked: number; isOne?: boolean }) {
    this.#session = session;
    this.#format = options.format;
    this.#asked = options.asked;
    this.#isOne = options.isOne ?? options.asked === 1;
    const { io } = session;
    // If standard output is a terminal, its lines show the progress.
    this.#progress = new Progress({ total: options.asked, isShown: io.errIsTerminal && !io.outIsTerminal, write: io.err });
    this.#printer = new ListPrinter(OBSERVER_LISTING, session.print(options.format === "lines" ? "name" : options.format));
  }

  /** `what`: such as `created` or `is being stopped`; `below`: lines with details */
  tell(outcome: ObserverView | CliFailure, what: string, below: string[] = []): void {
    if (outcome instanceof CliFailure) this.#refuse(outcome);
    else this.#accept(outcome, what, below);
    this.#told += 1;
    this.#progress.step();
  }

  /** Reports an observer that was left as it is: it is neither done nor refused. */
  leave(name: string, why: string): void {
    this.#progress.clear();
    this.#session.io.err(plainLine(`observer ${name} ${why}`));
    this.#told += 1;
    this.#progress.step();
  }

  /**
   * Does `act`, which tells, and ends. Where it fails in the middle, the list is closed all the same, so that it can be read, and the failure says
   * of how many nothing is known.
   * @param andThen what is still to come of those that were accepted: it is done also where others were refused
   */
  async during(act: () => Promise<void>, andThen?: () => Promise<void>): Promise<void> {
    await act().catch((error: unknown) => {
      this.#progress.clear();
      if (this.#printer.count > 0) this.#closeList();
      if (this.#told === 0 || !(error instanceof CliFailure)) throw error;
      throw error.withRemedy(`${this.#told} of ${this.#asked} are told above; of the others nothing is known.`);
    });
    await this.end(andThen);
  }

  #accept(observer: ObserverView, what: string, below: string[]): void {
    const { io } = this.#session;
    if (this.#format === "lines") io.out(plainLines([`observer ${observer.name} ${what}`, ...below]));
    else if (this.#isOne) io.out(printOne(OBSERVER_LISTING, observer, this.#session.print(this.#format)));
    else io.out(this.#printer.rows([observer]));
  }

  #refuse(failure: CliFailure): void {
    this.#refused.push(failure);
    if (this.#isOne) return; // `end` tells it
    this.#progress.clear();
    this.#session.io.err(failureText(failure));
  }

  async end(andThen?: () => Promise<void>): Promise<void> {
    this.#progress.clear();
    this.#closeList();
    await andThen?.();
    const [first] = this.#refused;
    if (first === undefined) return;
    throw this.#isOne ? first : new CliFailure("failed", `${this.#refused.length} of ${this.#asked} were refused`);
  }

  #closeList(): void {
    if (!this.#isOne && this.#format !== "lines") this.#session.io.out(this.#printer.end());
  }
}
