import type { ObserverPage, ObserverStatus } from "@unacked/contracts";
import { type ObserverRow, toRow } from "../store/observer-row.ts";
import { call } from "./call.ts";

const PAGE_ROWS = 1_000;

export interface LoadedPage {
  rows: ObserverRow[];
  /** All that there are, not only this page. */
  total: number;
}

/** Reads the list page by page, newest first. At most `maxRows`, if that is given. */
export async function* loadObservers(
  statuses: readonly ObserverStatus[],
  { maxRows = Infinity, signal }: { maxRows?: number; signal?: AbortSignal } = {},
): AsyncGenerator<LoadedPage> {
  let cursor: string | null = "";
  for (let read = 0; cursor !== null && read < maxRows; ) {
    const query = new URLSearchParams({ limit: String(PAGE_ROWS), status: statuses.join(",") });
    if (cursor !== "") query.set("cursor", cursor);
    const page: ObserverPage = await call("GET", `/observers?${query}`, { ...(signal && { signal }) });
    read += page.items.length;
    cursor = page.nextCursor;
    yield { rows: page.items.map(toRow), total: page.total };
  }
}
