import { OBSERVER_STATUSES } from "@unacked/contracts";
import type { ObserverFilter } from "../client/api.ts";
import type { Session } from "../session.ts";

/** What a selection means where it names no status: everything that is not Deleted. */
export const LIVING = OBSERVER_STATUSES.filter((status) => status !== "Deleted");

/** The ids of all that are selected now. */
export async function findSelected({ api }: Session, target: { filter: ObserverFilter } | { all: true }): Promise<string[]> {
  const ids: string[] = [];
  const filter = "filter" in target ? target.filter : {};
  for await (const page of api.observerPages({ status: [...LIVING], ...filter })) ids.push(...page.map(({ id }) => id));
  return ids;
}
