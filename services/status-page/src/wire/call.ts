import type { ProblemDetails } from "@unacked/contracts";

/** What the manager answered instead of what was asked for, or that nobody answered. `code` is stable. */
export class CallError extends Error {
  readonly code: ProblemDetails["code"] | "unreachable" | "no-problem-document";
  readonly remedy: string;
  readonly fieldErrors: NonNullable<ProblemDetails["errors"]>;
  /** In how many seconds to try again, where the manager says so. */
  readonly retryAfterS: number | undefined;

  constructor(problem: Pick<CallError, "code" | "message" | "remedy"> & Partial<CallError>, options?: ErrorOptions) {
    super(problem.message, options);
    this.name = "CallError";
    this.code = problem.code;
    this.remedy = problem.remedy;
    this.fieldErrors = problem.fieldErrors ?? [];
    this.retryAfterS = problem.retryAfterS;
  }
}

export interface CallOptions {
  body?: unknown;
  signal?: AbortSignal;
}

/** Longer than the manager itself waits for its database (12 s). */
const TIMEOUT_MS = 20_000;

let tellUnauthorized = (): void => undefined;

/** Told whenever the manager does not know any more who calls. One listener: the session. */
export function onUnauthorized(listener: () => void): void {
  tellUnauthorized = listener;
}

/** One call of the manager's REST API. Rejects with CallError alone, or with the reason of `signal`. */
export async function call<Answer>(method: string, path: string, { body, signal }: CallOptions = {}): Promise<Answer> {
  const response = await send(method, path, body, signal);
  if (response.status === 401) tellUnauthorized();
  if (!response.ok) throw await refusalOf(response);
  return (response.status === 204 ? undefined : await response.json()) as Answer;
}

async function send(method: string, path: string, body: unknown, signal?: AbortSignal): Promise<Response> {
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  try {
    return await fetch(`/api/v1${path}`, {
      method,
      headers: { accept: "application/json", ...(body !== undefined && { "content-type": "application/json" }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    });
  } catch (error) {
    signal?.throwIfAborted();
    throw new CallError(
      {
        code: "unreachable",
        message: timeout.aborted ? "The manager does not answer" : "The manager cannot be reached",
        remedy: "Is it running, and the network between? This page tries again by itself.",
      },
      { cause: error },
    );
  }
}

async function refusalOf(response: Response): Promise<CallError> {
  const problem = (await response.json().catch(() => null)) as ProblemDetails | null;
  if (typeof problem?.code === "string") {
    const { code, detail, remedy, errors, retryAfterS } = problem;
    return new CallError({ code, message: detail, remedy, retryAfterS, ...(errors && { fieldErrors: errors }) });
  }
  return new CallError({
    code: "no-problem-document",
    message: `The answer was ${response.status} ${response.statusText}`.trim(),
    remedy: "A proxy between this page and the manager may have answered.",
  });
}
