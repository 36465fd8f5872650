/** What an error was caused by, and what that was caused by. */
const MAX_CAUSES = 3;

export interface ErrorLike {
  name?: unknown;
  message?: unknown;
  stack?: unknown;
  cause?: unknown;
  errors?: unknown;
}

/** Its own message and those of its causes, but for what one says already; one character more than these at most from each. Never throws. */
export function messageWithCauses(thrown: ErrorLike, maxLength: number): string {
  // To look for one text in another takes, at the worst, the product of their lengths. One more than may be sent: it says that it was cut.
  let text = readText(() => thrown.message).slice(0, maxLength + 1);
  let cause = causeOf(thrown);
  for (let i = 0; i < MAX_CAUSES && isErrorLike(cause); i += 1) {
    const error = cause;
    const message = readText(() => error.message).slice(0, maxLength);
    if (message !== "" && !text.includes(message)) text = text === "" ? message : `${text}: ${message}`;
    cause = causeOf(error);
  }
  return text;
}

/** Of an AggregateError its first: `connect` to a name with two addresses throws one without a message. */
function causeOf(error: ErrorLike): unknown {
  try {
    return error.cause ?? (Array.isArray(error.errors) ? (error.errors as unknown[])[0] : undefined);
  } catch {
    return undefined;
  }
}

/** Whatever may be told as an error: not all of them are of this realm. */
export function isErrorLike(thrown: unknown): thrown is ErrorLike {
  try {
    return thrown instanceof Error || (typeof thrown === "object" && thrown !== null && "message" in thrown);
  } catch {
    return false; // a proxy with a trap that throws
  }
}

/** What `read` gives, as text; `""` for undefined. Never throws. */
export function readText(read: () => unknown): string {
  try {
    const value = read();
    return value === undefined ? "" : String(value);
  } catch {
    return "(it could not be read)";
  }
}
