import type { OccurrencePage, RunView } from "@unacked/contracts";
import { usageFailure } from "../failure.ts";
import { RUN_LISTING, runsOf } from "../output/observer-listings.ts";
import { plainLine } from "../output/plain-text.ts";
import { OCCURRENCE_LISTING } from "../output/time-listings.ts";
import type { Session } from "../session.ts";
import type { GetOptions } from "./get-options.ts";
import { eachFound, failForMissing, once, printPages } from "./show-rows.ts";

/** The most that one call answers. */
const MOST_OCCURRENCES = 1_000;

export async function getRuns(session: Session, names: string[], options: GetOptions): Promise<void> {
  if (names.length === 0) throw usageFailure("Runs of which observer?", "unacked get runs NAME");
  if (names.length === 1)
    return printPages(session, RUN_LISTING, options, once(await runsOfOne(session, names[0] as string)));
  const named = new Map<string, string>();
  const { found, missing } = await eachFound(session, names, async (name) => {
    const runs = await runsOfOne(session, name);
    for (const { observerId } of runs) named.set(observerId, name);
    return runs;
  });
  await printPages(session, runsOf(named), options, once(found.flat()));
  failForMissing(missing, names);
}

/** Says so if there are more runs than one call gives. */
async function runsOfOne({ api, io }: Session, ref: string): Promise<RunView[]> {
  const { items, total } = await api.call("listRuns", { path: { ref } });
  if (total > items.length) io.err(plainLine(`runs of ${ref}: the newest ${items.length} of ${total}`));
  return items;
}

export async function getOccurrences(session: Session, names: string[], options: GetOptions): Promise<void> {
  const [scheduleId] = names;
  if (scheduleId === undefined || names.length > 1)
    throw usageFailure("Occurrences of which schedule?", "unacked get occurrences NAME");
  return printPages(session, OCCURRENCE_LISTING, options, occurrencesOf(session, scheduleId, options.limit));
}

async function* occurrencesOf({ api }: Session, scheduleId: string, limit = Number.POSITIVE_INFINITY) {
  let left = limit;
  for (let cursor: string | null | undefined; left > 0 && cursor !== null; ) {
    const query = { limit: Math.min(MOST_OCCURRENCES, left), ...(cursor !== undefined && { cursor }) };
    const page: OccurrencePage = await api.call("listOccurrences", { path: { scheduleId }, query });
    yield page.items;
    left -= page.items.length;
    cursor = page.nextCursor;
  }
}
