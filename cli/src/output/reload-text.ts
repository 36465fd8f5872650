import type { ServiceReload, ServiceView } from "@unacked/contracts";
import { CliFailure } from "../failure.ts";
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
  return `service ${name} has loaded its folder again${parts.length === 0 ? ": its code is what it was" : ` (${parts.join("; ")})`}`;
}

/** The old code stays; below it the text of each file at fault. */
export function reloadRefused({ name }: ServiceView, { why = "", brokenFiles }: ReloadAnswer): CliFailure {
  const lines = brokenFiles.length > 0 ? brokenFiles.flatMap(brokenFileLines) : why.split("\n").slice(1);
  const reason = why.split("\n")[0] ?? "";
  return new CliFailure("failed", `service ${name} keeps its old code${reason === "" ? "" : `: ${reason}`}`, {
    code: "reload-refused",
    details: lines,
  });
}
