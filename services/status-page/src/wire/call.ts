import { Client, trustingDecoder, Wire, CallError as WireError } from "@unacked/client";
import type { AnswerOf, CallInput, CallName, ProblemDetails } from "@unacked/contracts";
import { BASE_PATH } from "./base-path.ts";
import { remedyInWords } from "./remedy-in-words.ts";

/** What the manager answered instead of what was asked for, or that nobody answered. `code` is stable. */
export class CallError extends Error {
  readonly code: ProblemDetails["code"] | "unreachable" | "sign-in-elsewhere" | "no-problem-document";
  /** What every problem of this code is called; `message` says more of this one, or the same. */
  readonly title: string;
  readonly remedy: string;
  readonly fieldErrors: NonNullable<ProblemDetails["errors"]>;
  /** In how many seconds to try again, where the manager says so. */
  readonly retryAfterS: number | undefined;

  constructor(problem: Pick<CallError, "code" | "message" | "remedy"> & Partial<CallError>, options?: ErrorOptions) {
    super(problem.message, options);
    this.name = "CallError";
    this.code = problem.code;
    this.title = problem.title ?? problem.message;
    this.remedy = problem.remedy;
    this.fieldErrors = problem.fieldErrors ?? [];
    this.retryAfterS = problem.retryAfterS;
  }

  /** Asked again later it may be answered: nobody has answered now, or the manager says when. */
  get isPassing(): boolean {
    return !this.isAnswer || this.retryAfterS !== undefined;
  }

  /** The manager itself said it. */
  get isAnswer(): boolean {
    return this.code !== "unreachable" && this.code !== "no-problem-document" && !this.isOfProxy;
  }

  /** A proxy in front of the manager wants to know who asks: a page that is loaded again is led to where one signs in. */
  get isOfProxy(): boolean {
    return this.code === "sign-in-elsewhere";
  }
}

/** Of where the page came from. Nothing is tried again in secret: what fails is shown, and who shows it asks again. */
const client = new Client({ wire: new Wire({ url: BASE_PATH }), decoder: trustingDecoder, retries: 0 });

let unauthorized = (): void => undefined;

/** Told whenever the manager does not know any more who calls. One listener: the session. */
export function onUnauthorized(listener: () => void): void {
  unauthorized = listener;
}

/** What another way than a call has heard: the stream of changes was refused. */
export const tellUnauthorized = (): void => unauthorized();

/** One call of the manager's REST API, under its operationId. Rejects with CallError alone, or with the reason of `signal`. */
export const call = <Name extends CallName>(
  name: Name,
  input: CallInput<Name>,
  signal?: AbortSignal,
): Promise<AnswerOf<Name>> =>
  client.call(name, input, signal).catch((error: unknown) => Promise.reject(toldToThePage(error)));

function toldToThePage(error: unknown): unknown {
  if (!(error instanceof WireError)) return error;
  const { kind, problem, status } = error;
  if (kind === "refused" && problem !== undefined) {
    if (problem.code === "unauthorized") tellUnauthorized();
    const { code, title, detail, errors, retryAfterS } = problem as ProblemDetails;
    const remedy = remedyInWords(problem.remedy, retryAfterS);
    return new CallError({ code, title, message: detail, remedy, retryAfterS, ...(errors && { fieldErrors: errors }) });
  }
  if (kind === "unreachable" || kind === "timed-out")
    return new CallError(
      {
        code: "unreachable",
        message: kind === "timed-out" ? "The manager has not answered in time" : "The manager cannot be reached",
        remedy: "Is it running, and its database, and the network between? This page tries again by itself.",
      },
      { cause: error },
    );
  if (isOfSignIn(error))
    return new CallError(
      {
        code: "sign-in-elsewhere",
        message: `A proxy in front of the manager ${status === 403 ? "refuses this: it may want" : "wants"} you to sign in`,
        remedy: "Reload this page.",
      },
      { cause: error },
    );
  return new CallError(
    {
      code: "no-problem-document",
      message: status === undefined ? error.message : `The answer was ${status}`,
      remedy: "A proxy between this page and the manager may have answered.",
    },
    { cause: error },
  );
}

/** A manager sends nobody elsewhere, and refuses with a problem document: what else does is a proxy whose session is over. */
const isOfSignIn = ({ kind, status }: WireError): boolean => kind === "redirected" || status === 401 || status === 403;
