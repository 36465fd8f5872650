import { LIVING_STATUSES, type ObserverFilter, type ObserverView } from "@unacked/contracts";
import { toQuery } from "../input/filters.ts";
import type { Session } from "../session.ts";

/** What was selected, and by what: it is sent with them, so that what no longer matches as its turn comes is left as it is. */
export interface Selected {
  filter: ObserverFilter;
  observers: readonly Pick<ObserverView, "id" | "name">[];
}

/** All that match, as they stand now. Without a status: of those that are not Deleted. */
export async function findMatching({ api }: Session, filter: ObserverFilter): Promise<ObserverView[]> {
  const found: ObserverView[] = [];
  for await (const page of api.pages("listObservers", toQuery(living(filter)))) found.push(...page);
  return found;
}

/** The same, to be changed one by one. */
export const findSelected = async (session: Session, filter: ObserverFilter): Promise<Selected> => ({
  filter: living(filter),
  observers: await findMatching(session, filter),
});

const living = (filter: ObserverFilter): ObserverFilter => ({ status: [...LIVING_STATUSES], ...filter });
