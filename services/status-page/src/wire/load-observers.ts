import type { ListedObserver, ObserverColumns, ObserverStatus } from "@unacked/contracts";
import { type ObserverRow, toRow } from "../store/observer-row.ts";
import { bothEnds, type PageRead, type PlaceAsked } from "./both-ends.ts";
import { CallError, call } from "./call.ts";

const SIZES = { first: 500, others: 5_000 };
/** Of whole observers. */
const MAX_WHOLE_ROWS = 1_000;

/** All of these statuses, page by page, the newest first and the oldest beside them. */
export const loadObservers = (status: ObserverStatus[], signal: AbortSignal): AsyncGenerator<PageRead<ObserverRow>, void> =>
  bothEnds((place) => readPage(status, place, signal), SIZES);

/** The newest of these statuses, `limit` at most. */
export async function loadNewest(status: ObserverStatus[], limit: number, signal: AbortSignal): Promise<ObserverRow[]> {
  const page = await readPage(status, { sort: "newest", limit }, signal);
  return page?.rows ?? [];
}

/**
 * While managers are replaced by newer ones, this may be answered by one that has only the list of whole observers, the newest first; its cursors
 * are the same.
 */
async function readPage(
  status: ObserverStatus[],
  place: PlaceAsked,
  signal?: AbortSignal,
): Promise<PageRead<ObserverRow> | undefined> {
  try {
    const { columns, services, ...page } = await call("listObserverColumns", { query: { status, ...place } }, signal);
    return { rows: toRows(columns, services), ...page };
  } catch (error) {
    if (!(error instanceof CallError) || error.code !== "not-found") throw error;
    if (place.sort !== "newest") return undefined;
    const whole = { status, ...place, limit: Math.min(MAX_WHOLE_ROWS, place.limit) };
    const { items, ...page } = await call("listObservers", { query: whole }, signal);
    return { rows: items.map(toRow), ...page };
  }
}

/** Field by field by name: an object that is filled by a loop over the names takes five times as long. */
function toRows(columns: ObserverColumns["columns"], services: ObserverColumns["services"]): ObserverRow[] {
  const { id, name, type, pool, labels, status, pending, silentSince, service } = columns;
  const { runNumber, restartsLately, attempts, lastError, createdAt, modifiedAt } = columns;
  return id.map((_, at) => {
    const listed = {
      id: id[at],
      name: name[at],
      type: type[at],
      pool: pool[at],
      labels: labels[at],
      status: status[at],
      pending: pending[at],
      silentSince: silentSince[at],
      service: services[service[at] ?? -1] ?? null,
      runNumber: runNumber[at],
      restartsLately: restartsLately[at],
      attempts: attempts[at],
      lastError: lastError[at],
      createdAt: createdAt[at],
      modifiedAt: modifiedAt[at],
    } satisfies { [Name in keyof ListedObserver]: ListedObserver[Name] | undefined };
    return toRow(listed as ListedObserver);
  });
}
