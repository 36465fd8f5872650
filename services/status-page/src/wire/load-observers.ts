import type { ListedObserver, ObserverColumns, ObserverStatus } from "@unacked/contracts";
import { type ObserverRow, toRow } from "../store/observer-row.ts";
import { call } from "./call.ts";
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

/** The first page is to be seen at once; of the others fewer are better. */
const FIRST_ROWS = 500;
const PAGE_ROWS = 5_000;

/** Reads the list page by page, newest first. At most `maxRows`, if that is given. */
export async function* loadObservers(status: ObserverStatus[], options: LoadOptions = {}): AsyncGenerator<LoadedPage> {
  for await (const { columns, total } of oneAhead(columnPages(status, options))) yield { rows: toRows(columns), total };
}

async function* columnPages(
  status: ObserverStatus[],
  { maxRows = Number.POSITIVE_INFINITY, signal }: LoadOptions,
): AsyncGenerator<ObserverColumns, void> {
  let [left, rows] = [maxRows, FIRST_ROWS];
  for (let cursor: string | undefined; ; rows = PAGE_ROWS) {
    const query = { status, limit: Math.min(rows, left), ...(cursor !== undefined && { cursor }) };
    const page = await call("listObserverColumns", { query }, signal);
    yield page;
    left -= page.columns.id.length;
    if (page.nextCursor === null || left <= 0) return;
    cursor = page.nextCursor;
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
