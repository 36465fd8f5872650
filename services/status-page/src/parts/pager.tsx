import { useState } from "react";
import { MoreButton } from "./more-button.tsx";
import css from "./pager.module.css";

/** Where somebody is in a list that is read page by page, the newest first. */
export interface Pages {
  /** What goes into the query; nothing for the first page. */
  query: { cursor?: string };
  /** How many pages are before this one. */
  before: number;
  onward: (cursor: string) => void;
  back: () => void;
  /** To the first. */
  restart: () => void;
}

/** @param of what is listed: of another list, come by a link or by the browser's Back, the first page is shown */
export function usePages(of: string): Pages {
  /** Of the pages before this one; the last is that of this one. */
  const [place, setPlace] = useState<{ of: string; cursors: readonly string[] }>({ of, cursors: [] });
  const cursors = place.of === of ? place.cursors : [];
  const cursor = cursors.at(-1);
  const goTo = (next: readonly string[]) => setPlace({ of, cursors: next });
  return {
    query: { ...(cursor !== undefined && { cursor }) },
    before: cursors.length,
    onward: (next) => goTo([...cursors, next]),
    back: () => goTo(cursors.slice(0, -1)),
    restart: () => goTo([]),
  };
}

interface Props {
  pages: Pages;
  /** As the list answered; null: there is nothing older. */
  nextCursor: string | null;
  /** Instead of older ones: more on this page, as long as that can hold more. */
  onMore?: (() => void) | undefined;
  /** What was asked for last is on its way. */
  isTurning: boolean;
}

export function Pager({ pages, nextCursor, onMore, isTurning }: Props) {
  const button = (text: string, hasMore: boolean, onClick: () => void) => (
    <MoreButton hasMore={hasMore} isLoading={isTurning} onClick={onClick}>
      {text}
    </MoreButton>
  );
  const onOlder = onMore ?? (() => nextCursor !== null && pages.onward(nextCursor));
  return (
    <div className={css.pages}>
      {button(onMore === undefined ? "Older ones" : "Show more", nextCursor !== null, onOlder)}
      {button("Newer ones", pages.before > 0, pages.back)}
      {button("Back to the newest", pages.before > 1, pages.restart)}
    </div>
  );
}
