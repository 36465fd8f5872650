import { Button } from "@mantine/core";
import { useState } from "react";
import css from "./pager.module.css";

/** Where somebody is in a list that is read page by page, the newest first. */
export interface Pages {
  /** What goes into the query; nothing for the first page. */
  query: { cursor?: string };
  /** How many pages are before this one. */
  before: number;
  onward: (cursor: string) => void;
  back: () => void;
  /** To the first: what is listed is another. */
  restart: () => void;
}

export function usePages(): Pages {
  /** Of the pages before this one; the last is that of this one. */
  const [cursors, setCursors] = useState<string[]>([]);
  const cursor = cursors.at(-1);
  return {
    query: { ...(cursor !== undefined && { cursor }) },
    before: cursors.length,
    onward: (next) => setCursors([...cursors, next]),
    back: () => setCursors(cursors.slice(0, -1)),
    restart: () => setCursors([]),
  };
}

interface Props {
  pages: Pages;
  /** As the list answered; null: there is nothing older. */
  nextCursor: string | null;
  /** Instead of older ones: more on this page, as long as that can hold more. */
  onMore?: (() => void) | undefined;
}

export function Pager({ pages, nextCursor, onMore }: Props) {
  const button = (text: string, onClick: () => void) => (
    <Button variant="default" size="compact-md" onClick={onClick}>
      {text}
    </Button>
  );
  return (
    <div className={css.pages}>
      {nextCursor !== null &&
        (onMore === undefined ? button("Older ones", () => pages.onward(nextCursor)) : button("Show more", onMore))}
      {pages.before > 0 && button("Newer ones", pages.back)}
      {pages.before > 1 && button("Back to the newest", pages.restart)}
    </div>
  );
}
