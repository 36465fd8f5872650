import { usageFailure } from "../failure.ts";
import type { Kind } from "../input/kinds.ts";
import type { OutputOptions, SelectionOptions } from "./option-sets.ts";

export interface GetOptions extends OutputOptions, SelectionOptions {
  all?: boolean;
  sort?: string;
  limit?: number;
  groups?: boolean;
}

const WHERE_IT_IS: Readonly<Record<string, string>> = {
  "--all": "--all is for observers and services.",
  "--selector": "--selector is for observers.",
  "--sort": "--sort is for observers.",
  "--groups": "--groups is for errors. To count together what observers failed of: unacked get failures.",
};

/** Refuses options that mean nothing for the kind: if they were ignored, the output would not be what was asked for. */
export function refuseOptions(kind: Kind, { all, filter, selector, sort, groups, limit }: GetOptions): void {
  const isObservers = kind === "observers";
  const isErrors = kind === "errors";
  const isPaged = isObservers || (["errors", "audit", "tasks", "flows", "timers", "schedules"] as Kind[]).includes(kind);
  const isFiltered = isPaged || kind === "task-failures";
  const isLimited = isPaged || kind === "occurrences";
  const wrong = [
    ...(all !== undefined && !isObservers && kind !== "services" ? ["--all"] : []),
    ...(filter !== undefined && (!isFiltered || groups === true) ? ["--filter"] : []),
    ...(selector !== undefined && !isObservers ? ["--selector"] : []),
    ...(sort !== undefined && !isObservers ? ["--sort"] : []),
    ...(limit !== undefined && (!isLimited || groups === true) ? ["--limit"] : []),
    ...(groups !== undefined && !isErrors ? ["--groups"] : []),
  ];
  if (wrong.length === 0) return;
  const remedy = wrong.flatMap((option) => WHERE_IT_IS[option] ?? []).join(" ");
  throw usageFailure(`${wrong.join(", ")} cannot be used with ${groups === true && isErrors ? "--groups" : kind}`, remedy);
}

/** Refuses filters beside names: named things are shown in any case, and the filter would seem to match them. */
export function refuseSelecting(kind: Kind, { filter, selector, sort, groups, limit }: GetOptions): void {
  const wrong = [
    ...(filter !== undefined ? ["--filter"] : []),
    ...(selector !== undefined ? ["--selector"] : []),
    ...(sort !== undefined ? ["--sort"] : []),
    ...(limit !== undefined ? ["--limit"] : []),
    ...(groups !== undefined ? ["--groups"] : []),
  ];
  if (wrong.length > 0)
    throw usageFailure(`${wrong.join(", ")} cannot be used with names`, `Either name ${kind}, or choose them by options.`);
}
