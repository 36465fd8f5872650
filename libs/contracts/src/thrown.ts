/** How many causes of an error are read, each one the cause of the one before. */
const MAX_CAUSES = 3;

export interface ErrorLike {
  name?: unknown;
  message?: unknown;
  stack?: unknown;
  cause?: unknown;
  errors?: unknown;
}

/**
 * The error's message and those of its causes, without what one says already. It may be longer than `maxLength` by one character from each.
 * Never throws.
 */
export function messageWithCauses(thrown: ErrorLike, maxLength: number): string {
  // To search one text in another may take the product of their lengths. One character over the bound is kept, which shows that it was cut.
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

/** For an AggregateError it is the first: `connect` to a name with two addresses throws one without a message. */
function causeOf(error: ErrorLike): unknown {
  try {
    return error.cause ?? (Array.isArray(error.errors) ? (error.errors as unknown[])[0] : undefined);
  } catch {
    return undefined;
  }
}

/** Whether it has the form of an error: errors of other realms are no instances of Error. */
export function isErrorLike(thrown: unknown): thrown is ErrorLike {
  try {
    return thrown instanceof Error || (typeof thrown === "object" && thrown !== null && "message" in thrown);
  } catch {
    return false; // it is a proxy with a trap that throws
  }
}

/** Returns the result of `read` as text; `""` for undefined. Never throws. */
export function readText(read: () => unknown): string {
  try {
    const value = read();
    return value === undefined ? "" : String(value);
  } catch {
    return "(it could not be read)";
  }
}
