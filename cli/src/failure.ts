/** The exit codes of `unacked`. They are documented in docs/cli.md, which a test compares with this. */
export const EXIT_CODES = {
  ok: 0,
  failed: 1,
  usage: 2,
  unreachable: 3,
  timedOut: 4,
  unexpectedAnswer: 5,
  differs: 6,
  notAllowed: 7,
  interrupted: 130,
} as const;

export type ExitKind = keyof typeof EXIT_CODES;

/**
 * A failure that is shown as it is: `message` in one line, `details` below it, one line each, and what to do in `remedy`.
 * Anything else that is thrown is a bug in this program.
 */
export class CliFailure extends Error {
  override readonly name = "CliFailure";
  readonly exitKind: ExitKind;
  /** A stable code for scripts: a problem's code, or one of our own. */
  readonly code: string;
  readonly details: readonly string[];
  readonly remedy: string | undefined;
  /**
   * Whether the manager said that it did not do it (a problem of 4xx). After any other failure of a call it may have been done.
   */
  readonly isRefusal: boolean;

  constructor(
    exitKind: ExitKind,
    message: string,
    more: { code?: string; details?: readonly string[]; remedy?: string; isRefusal?: boolean; cause?: unknown } = {},
  ) {
    super(message, more.cause === undefined ? {} : { cause: more.cause });
    this.exitKind = exitKind;
    this.code = more.code ?? exitKind;
    this.details = more.details ?? [];
    this.remedy = more.remedy;
    this.isRefusal = more.isRefusal ?? false;
  }

  /** The same failure with one more remedy behind those that it has. */
  withRemedy(remedy: string): CliFailure {
    const { exitKind, message, code, details, isRefusal } = this;
    return new CliFailure(exitKind, message, {
      code,
      details,
      isRefusal,
      remedy: `${this.remedy ?? ""} ${remedy}`.trim(),
      cause: this,
    });
  }
}

export const usageFailure = (message: string, remedy?: string): CliFailure => new CliFailure("usage", message, { remedy });

/** A handler for `catch`: undefined if the failure has this code, such as `observer-not-found`. Throws any other. */
export const noneIf =
  (code: string) =>
  (error: unknown): undefined => {
    if (!(error instanceof CliFailure) || error.code !== code) throw error;
  };

/**
 * Returns the refusal of one among many, to be told beside what succeeded. Throws any other failure, as it would meet the
 * others, too.
 */
export function asRefusal(error: unknown): CliFailure {
  if (error instanceof CliFailure && error.exitKind === "failed") return error;
  throw error;
}
