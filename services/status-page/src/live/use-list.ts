import type { CallInput, ItemOf, PagedCallName, QueryOf } from "@unacked/contracts";
import { useState } from "react";
import { type Pages, usePages } from "../parts/pager.tsx";
import { type Answered, useAnswer } from "./use-answer.ts";
import { useShownNow } from "./use-now.ts";

const PAGE = 100;
/** What one call answers at most. */
const MOST = 1_000;

/** A list, and where somebody is in it. */
export interface List<Item> {
  answer: Answered<{ items: Item[]; nextCursor: string | null; total: number; isTotalExact: boolean }>;
  pages: Pages;
  /** Shows more on this page; undefined where it cannot hold more. */
  onMore: (() => void) | undefined;
  /** The page is as short as at first again. */
  restart: () => void;
  nowMs: number;
}

interface Options {
  /** Of a page, at first. */
  rows?: number;
  /** Default: a page grows to what one call answers before there is a next one. */
  mayGrow?: boolean;
  lookEveryMs?: number;
}

/** A list of the manager, read again and again while it is seen. @param search by which it is narrowed, as in the page's address */
export function useList<Name extends PagedCallName>(
  name: Name,
  filter: QueryOf<Name>,
  search: string,
  { rows = PAGE, mayGrow = true, lookEveryMs = 2_000 }: Options = {},
): List<ItemOf<Name>> {
  const [limit, setLimit] = useState(rows);
  const pages = usePages(search);
  const nowMs = useShownNow(lookEveryMs);
  const input = { query: { limit, ...filter, ...pages.query } } as CallInput<Name>;
  const answer = useAnswer(name, input, nowMs) as List<ItemOf<Name>>["answer"];
  // An answer that was cut before it was as long as asked for would be no longer with more: what is beyond is on the next page.
  const canGrow = mayGrow && answer.data !== null && limit < MOST && answer.data.items.length >= limit;
  const onMore = canGrow ? () => setLimit(Math.min(MOST, limit * 3)) : undefined;
  return { answer, pages, onMore, restart: () => setLimit(rows), nowMs };
}
