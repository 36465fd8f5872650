import { isErrorLike, messageWithCauses, readText } from "@unacked/contracts";

const MAX_NAME = 256;
const MAX_MESSAGE = 16_384;

/**
 * What was thrown, in the form that a manager takes, with its causes: `fetch failed: connect ECONNREFUSED 127.0.0.1:9`. Never throws: a
 * value that cannot be read is reported as an error, too.
 */
export function thrownText(thrown: unknown): { name: string; message: string } {
  if (!isErrorLike(thrown)) return { name: "Error", message: cut(asText(thrown), MAX_MESSAGE) };
  const message = cut(messageWithCauses(thrown, MAX_MESSAGE), MAX_MESSAGE);
  return { name: cut(readText(() => thrown.name) || "Error", MAX_NAME), message };
}

/** Works for undefined as well. */
const asText = (thrown: unknown): string => readText(() => String(thrown));

/** Replaces NUL and half characters at the cut, which no manager takes. */
const cut = (text: string, length: number): string => text.slice(0, length).replaceAll(/\0|\p{Surrogate}/gu, "\uFFFD");
