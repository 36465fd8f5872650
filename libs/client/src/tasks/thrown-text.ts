const MAX_NAME = 256;
const MAX_MESSAGE = 16_384;
/** What an error was caused by, and what that was caused by. */
const MAX_CAUSES = 3;

interface ErrorLike {
  name?: unknown;
  message?: unknown;
  cause?: unknown;
  errors?: unknown;
}

/**
 * Whatever was thrown, as a manager takes it, with what caused it: `fetch failed: connect ECONNREFUSED 127.0.0.1:9`. Never throws: what cannot
 * be read is an error to be told, too.
 */
export function thrownText(thrown: unknown): { name: string; message: string } {
  if (!isErrorLike(thrown))
    return {
      name: "Error",
      message: cut(
        textOf(() => thrown),
        MAX_MESSAGE,
      ),
    };
  return { name: cut(textOf(() => thrown.name ?? "") || "Error", MAX_NAME), message: cut(messageOf(thrown), MAX_MESSAGE) };
}

/** Its own and those of its causes, but for what a message says already. */
function messageOf(thrown: ErrorLike): string {
  let text = textOf(() => thrown.message ?? "").slice(0, MAX_MESSAGE);
  let cause = causeOf(thrown);
  for (let i = 0; i < MAX_CAUSES && isErrorLike(cause); i += 1) {
    const error = cause;
    const message = textOf(() => error.message ?? "").slice(0, MAX_MESSAGE);
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

function isErrorLike(thrown: unknown): thrown is ErrorLike {
  try {
    return thrown instanceof Error || (typeof thrown === "object" && thrown !== null && "message" in thrown);
  } catch {
    return false; // a proxy with a trap that throws
  }
}

function textOf(read: () => unknown): string {
  try {
    return String(read());
  } catch {
    return "(it could not be read)";
  }
}

/** What half a character would be left of, or NUL, no manager takes. */
const cut = (text: string, length: number): string => text.slice(0, length).replaceAll(/\0|\p{Surrogate}/gu, "\uFFFD");
