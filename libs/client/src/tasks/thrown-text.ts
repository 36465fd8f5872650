import { isErrorLike, messageWithCauses, readText } from "@unacked/contracts";

const MAX_NAME = 256;
const MAX_MESSAGE = 16_384;

/**
 * Whatever was thrown, as a manager takes it, with what caused it: `fetch failed: connect ECONNREFUSED 127.0.0.1:9`. Never throws: what cannot
 * be read is an error to be told, too.
 */
export function thrownText(thrown: unknown): { name: string; message: string } {
  if (!isErrorLike(thrown)) return { name: "Error", message: cut(asText(thrown), MAX_MESSAGE) };
  const message = cut(messageWithCauses(thrown, MAX_MESSAGE), MAX_MESSAGE);
  return { name: cut(readText(() => thrown.name) || "Error", MAX_NAME), message };
}

/** Also of undefined. */
const asText = (thrown: unknown): string => readText(() => String(thrown));

/** What half a character would be left of, or NUL, no manager takes. */
const cut = (text: string, length: number): string => text.slice(0, length).replaceAll(/\0|\p{Surrogate}/gu, "\uFFFD");
