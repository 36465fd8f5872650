import type { ServiceView } from "@unacked/contracts";
import { CliFailure } from "../failure.ts";
import { ListPrinter, printOne } from "../output/list-printer.ts";
import { plainLine } from "../output/plain-text.ts";
import { lackText, type ReloadAnswer, refusalText, reloadAnswer, reloadLine } from "../output/reload-text.ts";
import { SERVICE_LISTING } from "../output/service-listing.ts";
import { failureText } from "../report.ts";
import type { Session } from "../session.ts";
import type { ResultFormat } from "./option-sets.ts";

/** Tells what became of each service as it comes. `end` fails if a file does not load somewhere, or if that is not known. */
export class ReloadResults {
  readonly #session: Session;
  readonly #format: ResultFormat;
  readonly #asked: number;
  readonly #isOne: boolean;
  readonly #last: ServiceView[] = [];
  readonly #refused: CliFailure[] = [];

  constructor(session: Session, { format, asked, isOne }: { format: ResultFormat; asked: number; isOne: boolean }) {
    this.#session = session;
    this.#format = format;
    this.#asked = asked;
    this.#isOne = isOne;
  }

  get isLines(): boolean {
    return this.#format === "lines";
  }

  /** @returns whether it is over */
  tell(asked: ServiceView, now: ServiceView): boolean {
    const answer = reloadAnswer(asked, now);
    // A service that is Gone has lost its connection, and may come back and answer.
    if (answer === undefined && now.state !== "Stopped") return false;
    this.#last.push(now);
    if (answer === undefined) this.refuse(endedFirst(now));
    else if (answer.outcome === "refused") this.refuse(keepsOldCode(now, answer));
    else {
      if (this.isLines) this.#session.io.out(plainLine(reloadLine(now, answer)));
      const lack = lackText(now);
      if (lack !== undefined) this.refuse(lacksTypes(lack));
    }
    return true;
  }

  refuse(failure: CliFailure): void {
    this.#refused.push(failure);
    if (!this.#isOne) this.#session.io.err(failureText(failure)); // `end` tells the failure of a single service
  }

  end(): void {
    this.#print();
    const [first] = this.#refused;
    if (first === undefined) return;
    if (this.#isOne) throw first;
    const exitKind = this.#refused.every((one) => one.exitKind === "timedOut") ? "timedOut" : "failed";
    throw new CliFailure(exitKind, `${this.#refused.length} of ${this.#asked} services have not loaded all of their folder`);
  }

  #print(): void {
    if (this.#format === "lines") return;
    const { io, print } = this.#session;
    const [only] = this.#last;
    if (this.#isOne) {
      if (only !== undefined) io.out(printOne(SERVICE_LISTING, only, print(this.#format)));
      return;
    }
    const printer = new ListPrinter(SERVICE_LISTING, print(this.#format));
    io.out(printer.rows(this.#last) + printer.end());
  }
}

function keepsOldCode(service: ServiceView, answer: ReloadAnswer): CliFailure {
  const { message, details } = refusalText(service, answer);
  return new CliFailure("failed", message, { code: "reload-refused", details });
}

const lacksTypes = ({ message, details }: { message: string; details: string[] }): CliFailure =>
  new CliFailure("failed", message, { code: "file-not-loaded", details });

const endedFirst = ({ name }: ServiceView): CliFailure =>
  new CliFailure("failed", `service ${name} ended before it answered`, {
    code: "service-ended",
    remedy: "When it is started again it loads the folder as it is then.",
  });
