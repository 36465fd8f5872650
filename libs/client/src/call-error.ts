import type { ProblemDetails } from "@unacked/contracts";

/** A problem as the contracts have it, but with any code: a newer manager may know codes that this client does not. */
export type AnyProblem = Omit<ProblemDetails, "code"> & { code: string };

/**
 * refused: the manager says by a problem why not · unreachable: nobody answers at that address · timed-out: nobody answered in
 * time · redirected: the address sends elsewhere · not-unacked: what answers is no manager · misshapen: an answer of another
 * shape than the contracts have · aborted: the caller's own signal ended a create; other calls reject with its reason.
 */
export type CallErrorKind = "refused" | "unreachable" | "timed-out" | "redirected" | "not-unacked" | "misshapen" | "aborted";

interface About {
  /** `GET http://…/api/v1/observers`. */
  request: string;
  status?: number | undefined;
  problem?: AnyProblem | undefined;
  /** For a misshapen answer: the places where it is wrong, a few at most. */
  flaws?: readonly string[] | undefined;
  cause?: unknown;
  ids?: readonly string[] | undefined;
}

interface Creating {
  ids: readonly string[];
  request: string;
  signal: AbortSignal | undefined;
}

const PASSING_STATUSES: ReadonlySet<number | undefined> = new Set([429, 502, 503, 504]);

/** Why a call was not done, or its answer could not be had. */
export class CallError extends Error {
  /**
   * `CallError`. For kind `aborted` it is the name of the signal's reason (its `cause`), such as `AbortError` or
   * `TimeoutError`.
   */
  override readonly name: string;
  readonly kind: CallErrorKind;
  readonly request: string;
  readonly status: number | undefined;
  readonly problem: AnyProblem | undefined;
  readonly flaws: readonly string[];
  /**
   * The ids of the tasks, or the flow, that were to be created, in the order given. To create them again with these ids makes each only
   * once, whatever came through. The exception is a task whose `key` another had: its id was not kept, and once that other is over, its
   * queued params would run once more.
   */
  readonly ids: readonly string[];

  constructor(kind: CallErrorKind, message: string, { request, status, problem, flaws = [], cause, ids = [] }: About) {
    super(message, cause === undefined ? {} : { cause });
    this.name = kind === "aborted" && cause instanceof Error ? cause.name : "CallError";
    this.kind = kind;
    this.request = request;
    this.status = status;
    this.problem = problem;
    this.flaws = flaws;
    this.ids = ids;
  }

  /** A stable code: the problem's code, or the kind. */
  get code(): string {
    return this.problem?.code ?? this.kind;
  }

  /**
   * The request itself was right, and may be answered later: a manager restarts or is asked too often, or a proxy before it finds
   * nobody (its page says 502, 503 or 504, RFC 9110, 15.6).
   */
  get isPassing(): boolean {
    return this.kind === "unreachable" || this.kind === "timed-out" || PASSING_STATUSES.has(this.status);
  }

  static refused(problem: AnyProblem, request: string): CallError {
    return new CallError("refused", problem.detail, { request, status: problem.status, problem });
  }

  /** Adds to the error of a create the ids that it was made with, as the client may have made them. */
  static ofCreate(error: unknown, { ids, request: asked, signal }: Creating): unknown {
    if (signal?.aborted && error === signal.reason)
      return new CallError("aborted", `the caller gave it up: ${textOf(error)}`, { request: asked, cause: error, ids });
    if (!(error instanceof CallError)) return error;
    const { kind, message, request, status, problem, flaws, cause } = error;
    return new CallError(kind, message, { request, status, problem, flaws, cause, ids });
  }
}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
