import type { ProblemDetails } from "@unacked/contracts";

/** As the contracts have it, but a newer manager may know codes that this client does not: they are told all the same. */
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
  /** Of a misshapen answer: each place that is not as it should be, a few at most. */
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
  /** `CallError`; where it is `aborted`, that of the signal's reason (its `cause`), as `AbortError` or `TimeoutError`. */
  override readonly name: string;
  readonly kind: CallErrorKind;
  readonly request: string;
  readonly status: number | undefined;
  readonly problem: AnyProblem | undefined;
  readonly flaws: readonly string[];
  /**
   * Of tasks, or a flow, that were to be created, in the order given: created again under these there is one of each, whatever came through. Not so
   * where another had the `key`: the id was not kept, and once that one is over its params, queued before, run once more.
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

  /** Stable: the problem's code, or the kind. */
  get code(): string {
    return this.problem?.code ?? this.kind;
  }

  /**
   * Nothing is wrong with what was asked, and later it may be answered: a manager that restarts or is asked too often, or a proxy
   * before it that finds nobody (its page says 502, 503 or 504, RFC 9110, 15.6).
   */
  get isPassing(): boolean {
    return this.kind === "unreachable" || this.kind === "timed-out" || PASSING_STATUSES.has(this.status);
  }

  static refused(problem: AnyProblem, request: string): CallError {
    return new CallError("refused", problem.detail, { request, status: problem.status, problem });
  }

  /** What a create failed with, and the ids that it was made with: the client may have made them. */
  static ofCreate(error: unknown, { ids, request: asked, signal }: Creating): unknown {
    if (signal?.aborted && error === signal.reason)
      return new CallError("aborted", `the caller gave it up: ${textOf(error)}`, { request: asked, cause: error, ids });
    if (!(error instanceof CallError)) return error;
    const { kind, message, request, status, problem, flaws, cause } = error;
    return new CallError(kind, message, { request, status, problem, flaws, cause, ids });
  }
}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
