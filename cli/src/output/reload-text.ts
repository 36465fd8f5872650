import type { ServiceReload, ServiceView } from "@unacked/contracts";
import { brokenFileLines } from "./slots.ts";

export type ReloadAnswer = NonNullable<ServiceReload["answer"]>;

/** A service's answer to the reload that was asked for, or to a later one. Undefined means none yet. */
export function reloadAnswer(asked: ServiceView, { reload }: ServiceView): ReloadAnswer | undefined {
  if (asked.reload === null || reload === null || reload.answer === null) return undefined;
  const isOurs = reload.id === asked.reload.id || reload.askedAt >= asked.reload.askedAt;
  return isOurs ? reload.answer : undefined;
}

/** For a reload that succeeded. */
export function reloadLine({ name }: ServiceView, { changed, added, gone }: ReloadAnswer): string {
  const parts = Object.entries({ changed, added, gone }).flatMap(([how, types]) =>
    types.length === 0 ? [] : `${how}: ${types.join(", ")}`,
  );
  return `service ${name} has loaded its folder again${parts.length === 0 ? ": its code has not changed" : ` (${parts.join("; ")})`}`;
}

/** For a service that could not load these files, with the problem of each below. Undefined means that every file loads. */
export function lackText({ name, brokenFiles }: ServiceView): { message: string; details: string[] } | undefined {
  if (brokenFiles.length === 0) return undefined;
  const files = brokenFiles.length === 1 ? "a file that does" : `${brokenFiles.length} files that do`;
  return { message: `service ${name} lacks the types of ${files} not load`, details: brokenFiles.flatMap(brokenFileLines) };
}

/** For a refused reload: says that the old code stays, and below it what is wrong with each file. */
export function refusalText(
  { name }: ServiceView,
  { why = "", brokenFiles }: ReloadAnswer,
): { message: string; details: string[] } {
  const [reason = "", ...more] = why.split("\n");
  const message = `service ${name} keeps its old code${reason === "" ? "" : `: ${reason}`}`;
  return { message, details: brokenFiles.length > 0 ? brokenFiles.flatMap(brokenFileLines) : more };
}
