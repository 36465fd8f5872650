import type { ListedObserver, ObserverColumns, ObserverStatus } from "@unacked/contracts";
import { type ObserverRow, toRow } from "../store/observer-row.ts";
import { CallError, call } from "./call.ts";
import { oneAhead } from "./one-ahead.ts";

export interface LoadedPage {
  rows: ObserverRow[];
  /** All that there are, not only this page. */
  total: number;
}

interface LoadOptions {
  maxRows?: number;
  signal?: AbortSignal;
}

interface PageQuery {
  status: ObserverStatus[];
  limit: number;
  cursor?: string;
}

/** The first page is to be seen at once; of the others fewer are better. */
const FIRST_ROWS = 500;
const PAGE_ROWS = 5_000;
/** Of whole observers. */
const MAX_WHOLE_ROWS = 1_000;

/** Reads the list page by page, newest first. At most `maxRows`, if that is given. */
export const loadObservers = (status: ObserverStatus[], options: LoadOptions = {}): AsyncGenerator<LoadedPage, void> =>
  oneAhead(pagesOf(status, options));

async function* pagesOf(
  status: ObserverStatus[],
  { maxRows = Number.POSITIVE_INFINITY, signal }: LoadOptions,
): AsyncGenerator<LoadedPage, void> {
  let [left, limit] = [maxRows, FIRST_ROWS];
  for (let place = {}; ; limit = PAGE_ROWS) {
    const { nextCursor, ...page } = await readPage({ status, limit: Math.min(limit, left), ...place }, signal);
    yield page;
    left -= page.rows.length;
    if (nextCursor === null || left <= 0) return;
    place = { cursor: nextCursor };
  }
}

/** While managers are replaced by newer ones, this may be answered by one that has only the list of whole observers; its cursors are the same. */
async function readPage(query: PageQuery, signal?: AbortSignal): Promise<LoadedPage & { nextCursor: string | null }> {
  try {
    const { columns, ...page } = await call("listObserverColumns", { query }, signal);
    return { rows: toRows(columns), ...page };
  } catch (error) {
    if (!(error instanceof CallError) || error.code !== "not-found") throw error;
    const whole = { ...query, limit: Math.min(MAX_WHOLE_ROWS, query.limit) };
    const { items, ...page } = await call("listObservers", { query: whole }, signal);
    return { rows: items.map(toRow), ...page };
  }
}

function toRows(columns: ObserverColumns["columns"]): ObserverRow[] {
  const names = Object.keys(columns) as (keyof ListedObserver)[];
  return columns.id.map((_, place) => {
    const listed: Partial<Record<keyof ListedObserver, unknown>> = {};
    for (const name of names) listed[name] = columns[name][place];
    return toRow(listed as unknown as ListedObserver);
  });
}
