import type { ObserverStatus } from "@unacked/contracts";
import { type ObserverRow, toRow } from "../store/observer-row.ts";
import { pages } from "./call.ts";
import { oneAhead } from "./one-ahead.ts";

export interface LoadedPage {
  rows: ObserverRow[];
  /** All that there are, not only this page. */
  total: number;
}

/** Reads the list page by page, newest first. At most `maxRows`, if that is given. */
export async function* loadObservers(
  status: ObserverStatus[],
  { maxRows: limit = Infinity, signal }: { maxRows?: number; signal?: AbortSignal } = {},
): AsyncGenerator<LoadedPage> {
  for await (const { items, total } of oneAhead(pages("listObservers", { status }, { limit, signal })))
    yield { rows: items.map(toRow), total };
}
