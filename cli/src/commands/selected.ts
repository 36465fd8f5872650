import { LIVING_STATUSES, type ObserverFilter } from "@unacked/contracts";
import type { Session } from "../session.ts";

/** The ids of all that are selected now. */
export async function findSelected({ api }: Session, target: { filter: ObserverFilter } | { all: true }): Promise<string[]> {
  const ids: string[] = [];
  const filter = "filter" in target ? target.filter : {};
  for await (const page of api.observerPages({ status: [...LIVING_STATUSES], ...filter }))
    ids.push(...page.map(({ id }) => id));
  return ids;
}
