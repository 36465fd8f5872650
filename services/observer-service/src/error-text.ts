import type { ErrorText } from "@unacked/contracts";

const MAX_NAME = 256;
const MAX_MESSAGE = 16_384;
const REPLACEMENT = "\uFFFD";

/** Whatever was thrown, as data. It never throws itself: handlers throw undefined, frozen objects, getters that throw. */
export function errorText(thrown: unknown): ErrorText {
  if (isErrorLike(thrown)) {
    const name = textOf(() => thrown.name) || "Error";
    return {
      name: sendableText(name, MAX_NAME),
      message: sendableText(
        textOf(() => thrown.message),
        MAX_MESSAGE,
      ),
    };
  }
  return { name: "NotAnError", message: sendableText(`the handler threw ${textOf(() => inWords(thrown))}`, MAX_MESSAGE) };
}

/** For the service's own log only: no stack goes over the wire. */
export function stackOf(thrown: unknown): string | undefined {
  return isErrorLike(thrown) ? textOf(() => thrown.stack) || undefined : undefined;
}

/**
 * A text that every part of the way takes: PostgreSQL refuses NUL characters and halves of surrogate pairs, and the
 * schemas limit lengths. What cannot be sent becomes U+FFFD.
 */
export function sendableText(text: string, maxLength: number): string {
  const cut = text.length > maxLength ? `${text.slice(0, maxLength - 1)}…` : text;
  return Buffer.from(cut.replaceAll("\0", REPLACEMENT), "utf8").toString("utf8");
}

interface ErrorLike {
  name?: unknown;
  message?: unknown;
  stack?: unknown;
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
    const value = read();
    return value === undefined ? "" : String(value);
  } catch {
    return "(it could not be read)";
  }
}

function inWords(thrown: unknown): string {
  if (thrown === undefined) return "undefined";
  if (typeof thrown === "object" && thrown !== null) return JSON.stringify(thrown);
  return String(thrown);
}
