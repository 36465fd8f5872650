import { type ErrorText, isErrorLike, MAX_STACK, messageWithCauses, readText } from "@unacked/contracts";
import { errorOf } from "@unacked/sdk/host";

const MAX_NAME = 256;
const MAX_MESSAGE = 16_384;
/** How many characters of a stack are read: an author's code may make it as long as it likes. */
const MAX_STACK_READ = 65_536;
const REPLACEMENT = "\uFFFD";

/**
 * What was thrown, as data, with its causes: `fetch failed: connect ECONNREFUSED 127.0.0.1:9`. It never throws itself: handlers throw
 * undefined, frozen objects, getters that throw.
 */
export function errorText(thrown: unknown): ErrorText {
  if (isErrorLike(thrown)) {
    const name = readText(() => thrown.name) || "Error";
    return {
      name: sendableText(name, MAX_NAME),
      message: sendableText(messageWithCauses(thrown, MAX_MESSAGE), MAX_MESSAGE),
    };
  }
  return errorText(errorOf(thrown));
}

/** The same with its stack, as far as that is known: for operators. */
export function thrownText(thrown: unknown): ErrorText {
  const error = errorText(thrown);
  const own = isErrorLike(thrown) ? readText(() => thrown.message) : error.message;
  const stack = positionsOf(stackOf(thrown) ?? "", own);
  return stack === "" ? error : { ...error, stack };
}

/** An error that was thrown elsewhere, in the form that V8 would give it. */
export function asError({ name, message, stack = "" }: ErrorText): Error {
  const positions = stack === "" ? "" : `\n${stack.replaceAll(/^\s*/gm, "    ")}`;
  return Object.assign(new Error(message), { name, stack: `${name}: ${message}${positions}` });
}

/** The stack as Node would print it, with name and message: for the service's own log. */
export function stackOf(thrown: unknown): string | undefined {
  return isErrorLike(thrown) ? readText(() => thrown.stack) || undefined : undefined;
}

/** The stack's lines `at …`, as many as fit. The message stands before them and may have such lines itself. */
function positionsOf(stack: string, message: string): string {
  const [head = ""] = stack.split("\n", 1);
  const [beginning = ""] = message.split("\n", 1);
  const isRepeated = head.endsWith(beginning) && stack.startsWith(message, head.length - beginning.length);
  const behind = isRepeated ? stack.slice(head.length - beginning.length + message.length) : stack;
  let positions = "";
  // No `\s`: it also matches line ends, so a text of blank lines was read to its end from each of them (200,000: a minute).
  for (const [, position = ""] of behind.slice(0, MAX_STACK_READ).matchAll(/^[ \t]+(at .+)$/gm)) {
    if (positions.length + position.length >= MAX_STACK) break;
    positions += positions === "" ? position : `\n${position}`;
  }
  return sendableText(positions, MAX_STACK);
}

/**
 * A text that every part of the way takes: PostgreSQL refuses NUL characters and halves of surrogate pairs, and the
 * schemas limit lengths. What cannot be sent becomes U+FFFD.
 */
export function sendableText(text: string, maxLength: number): string {
  const cut = text.length > maxLength ? `${text.slice(0, maxLength - 1)}…` : text;
  return Buffer.from(cut.replaceAll("\0", REPLACEMENT), "utf8").toString("utf8");
}
