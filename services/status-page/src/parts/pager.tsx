import { useState } from "react";
import { MoreButton } from "./more-button.tsx";
import css from "./pager.module.css";

/** Where somebody is in a list that is read page by page. */
export interface Pages {
  /** What goes into the query; nothing for the first page. */
  query: { cursor?: string };
  /** How many pages are before this one. */
  before: number;
  /** How many rows these showed: an answer is cut where it would be too long, so a page may have any number. */
  rowsBefore: number;
  /** @param rows so many the page shows that is left */
  onward: (cursor: string, rows: number) => void;
  back: () => void;
  /** To the first. */
  restart: () => void;
}

interface LeftPage {
  nextCursor: string;
  rows: number;
}

/** @param of what is listed: of another list, come by a link or by the browser's Back, the first page is shown */
export function usePages(of: string): Pages {
  /** The pages before this one; the cursor of the last is that of this one. */
  const [place, setPlace] = useState<{ of: string; left: readonly LeftPage[] }>({ of, left: [] });
  const left = place.of === of ? place.left : [];
  const cursor = left.at(-1)?.nextCursor;
  const goTo = (next: readonly LeftPage[]) => setPlace({ of, left: next });
  return {
    query: { ...(cursor !== undefined && { cursor }) },
    before: left.length,
    rowsBefore: left.reduce((sum, { rows }) => sum + rows, 0),
    onward: (nextCursor, rows) => goTo([...left, { nextCursor, rows }]),
    back: () => goTo(left.slice(0, -1)),
    restart: () => goTo([]),
  };
}

/** By the order of the list. */
const WORDS = {
  newest: { onward: "Older ones", back: "Newer ones", restart: "Back to the newest" },
  id: { onward: "Next ones", back: "Those before", restart: "Back to the first" },
};

interface Props {
  pages: Pages;
  /** As the list answered; `nextCursor` is null where this is the last page. */
  page: { items: readonly unknown[]; nextCursor: string | null };
  /** Default: `newest`. */
  order?: keyof typeof WORDS;
  /** Instead of the next page: more on this one, as long as that can hold more. */
  onMore?: (() => void) | undefined;
  /** What was asked for last is on its way. */
  isTurning: boolean;
}

export function Pager({ pages, page: { items, nextCursor }, order = "newest", onMore, isTurning }: Props) {
  const words = WORDS[order];
  // Until the answer has come nobody knows whether the page can hold more; the button stays what it was when it was pressed.
  const [canGrow, setCanGrow] = useState(onMore !== undefined);
  if (!isTurning && canGrow !== (onMore !== undefined)) setCanGrow(!canGrow);
  const button = (text: string, hasMore: boolean, onClick: () => void) => (
    <MoreButton hasMore={hasMore} isLoading={isTurning} onClick={onClick}>
      {text}
    </MoreButton>
  );
  const onward = onMore ?? (() => nextCursor !== null && pages.onward(nextCursor, items.length));
  return (
    <div className={css.pages}>
      {button(canGrow ? "Show more" : words.onward, nextCursor !== null, onward)}
      {button(words.back, pages.before > 0, pages.back)}
      {button(words.restart, pages.before > 1, pages.restart)}
    </div>
  );
}
