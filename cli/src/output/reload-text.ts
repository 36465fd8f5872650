import type { ServiceReload, ServiceView } from "@unacked/contracts";
import { brokenFileLines } from "./slots.ts";

export type ReloadAnswer = NonNullable<ServiceReload["answer"]>;

/** What a service said of what was asked for, or later; undefined: nothing yet. */
export function reloadAnswer(asked: ServiceView, { reload }: ServiceView): ReloadAnswer | undefined {
  if (asked.reload === null || reload === null || reload.answer === null) return undefined;
  const isOurs = reload.id === asked.reload.id || reload.askedAt >= asked.reload.askedAt;
  return isOurs ? reload.answer : undefined;
}

/** Of one that was not refused. */
export function reloadLine({ name }: ServiceView, { changed, added, gone }: ReloadAnswer): string {
  const parts = Object.entries({ changed, added, gone }).flatMap(([how, types]) =>
    types.length === 0 ? [] : `${how}: ${types.join(", ")}`,
  );
  return `service ${name} has loaded its folder again${parts.length === 0 ? ": its code has not changed" : ` (${parts.join("; ")})`}`;
}

/** Of one that has loaded all but these, the text of each file below it; undefined: every file loads. */
export function lackText({ name, brokenFiles }: ServiceView): { message: string; details: string[] } | undefined {
  if (brokenFiles.length === 0) return undefined;
  const files = brokenFiles.length === 1 ? "a file that does" : `${brokenFiles.length} files that do`;
  return { message: `service ${name} lacks the types of ${files} not load`, details: brokenFiles.flatMap(brokenFileLines) };
}

/** Of one that was refused: that the old code stays, and below it the text of each file at fault. */
export function refusalText(
  { name }: ServiceView,
  { why = "", brokenFiles }: ReloadAnswer,
): { message: string; details: string[] } {
  const [reason = "", ...more] = why.split("\n");
  const message = `service ${name} keeps its old code${reason === "" ? "" : `: ${reason}`}`;
  return { message, details: brokenFiles.length > 0 ? brokenFiles.flatMap(brokenFileLines) : more };
}
