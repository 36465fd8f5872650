import { openApi, RestContract, type SeenAnswer } from "./rest-contract.ts";

/**
 * Every answer that a test gets from a manager goes through here and is held against the OpenAPI document. A flaw fails the
 * test in which it was seen, even where the test itself asks again or looks away.
 */
const contract = new RestContract(openApi());
const flaws: string[] = [];
const seen = new Set<string>();
let count = 0;
let isManagerStarted = false;
const olderManagers = new Set<string>();

export function watchAnswer(answer: SeenAnswer): void {
  count += 1;
  if ([...olderManagers].some((origin) => answer.url.startsWith(origin))) return;
  flaws.push(...contract.flawsOf(answer));
  const name = contract.nameOf(answer);
  if (name !== undefined) seen.add(name);
}

/** This one is of an older version, which answers by its own document. */
export function isOlderManager(url: string): void {
  olderManagers.add(new URL(url).origin);
}

/** @param url of the stream */
export function watchEvent(url: string, event: string, data: unknown): void {
  count += 1;
  flaws.push(...contract.flawsOfEvent(url, event, data));
}

/** From here on it would be odd if nothing were seen in this file. */
export function expectAnswers(): void {
  isManagerStarted = true;
}

/** Of what the document describes (`getObserver 200`, …): what this file has seen, and what it has not. */
export function seenOfDocument(): { seen: string[]; unseen: string[] } {
  const { described } = contract;
  return { seen: described.filter((name) => seen.has(name)), unseen: described.filter((name) => !seen.has(name)) };
}

/** After each test. */
export function tellFlaws(): void {
  const told = flaws.splice(0);
  if (told.length === 0) return;
  const more = told.length > MAX_TOLD ? `\nand ${told.length - MAX_TOLD} more` : "";
  throw new Error(`Answers that are not as the OpenAPI document says:\n${told.slice(0, MAX_TOLD).join("\n")}${more}`);
}

const MAX_TOLD = 10;

/** At the end of a file; the next one begins with nothing seen. */
export function endWatch(): void {
  const wasBlind = isManagerStarted && count === 0;
  isManagerStarted = false;
  olderManagers.clear();
  count = 0;
  seen.clear();
  tellFlaws();
  if (wasBlind) throw new Error("A manager was started, and no answer of it was held to the document");
}
