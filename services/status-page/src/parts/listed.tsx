import type { ReactNode } from "react";
import type { List } from "../live/use-list.ts";
import { FoundCount } from "./found-count.tsx";
import { Pager } from "./pager.tsx";
import { Unanswered } from "./unanswered.tsx";

interface Props<Item> {
  /** As a sentence begins with it: `The tasks`. */
  what: string;
  list: List<Item>;
  /** Default: `newest`. */
  order?: "newest" | "id";
  /** Instead of the table where there are none. */
  none: ReactNode;
  /** The table of these. */
  children: (items: Item[]) => ReactNode;
}

/** A page of a list: how many there are, the table, and the ways to the others. */
export function Listed<Item>({ what, list: { answer, pages, onMore }, order = "newest", none, children }: Props<Item>) {
  const { data, failure, reload, isTurning } = answer;
  if (data === null) return <Unanswered what={what} height="20rem" failure={failure} onRetry={reload} />;
  return (
    <>
      <FoundCount shown={pages.rowsBefore + data.items.length} of={data} answer={answer} />
      {data.items.length === 0 ? none : children(data.items)}
      <Pager pages={pages} page={data} order={order} onMore={onMore} isTurning={isTurning} />
    </>
  );
}
