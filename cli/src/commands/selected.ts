import { LIVING_STATUSES, type ObserverFilter, type ObserverView } from "@unacked/contracts";
import { toQuery } from "../input/filters.ts";
import type { Session } from "../session.ts";

/**
 * The selected observers and their filter. The filter is sent with them, so that an observer that no longer matches is left as
 * it is.
 */
export interface Selected {
  filter: ObserverFilter;
  observers: readonly Pick<ObserverView, "id" | "name">[];
}

/** All observers that match now. A filter without a status leaves out those that are Deleted. */
export async function findMatching({ api }: Session, filter: ObserverFilter): Promise<ObserverView[]> {
  const found: ObserverView[] = [];
  for await (const page of api.pages("listObservers", toQuery(living(filter)))) found.push(...page);
  return found;
}

/** Finds the same observers, to change them one by one. */
export const findSelected = async (session: Session, filter: ObserverFilter): Promise<Selected> => ({
  filter: living(filter),
  observers: await findMatching(session, filter),
});

const living = (filter: ObserverFilter): ObserverFilter => ({ status: [...LIVING_STATUSES], ...filter });
