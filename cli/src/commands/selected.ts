import { LIVING_STATUSES, type ObserverFilter } from "@unacked/contracts";
import { toQuery } from "../input/filters.ts";
import type { Session } from "../session.ts";
import type { Waited } from "./status-wait.ts";

/** All that are selected now. */
export async function findSelected({ api }: Session, target: { filter: ObserverFilter } | { all: true }): Promise<Waited[]> {
  const found: Waited[] = [];
  const filter = "filter" in target ? target.filter : {};
  for await (const page of api.pages("listObservers", toQuery({ status: [...LIVING_STATUSES], ...filter })))
    found.push(...page.map(({ id, name }) => ({ id, name })));
  return found;
}
