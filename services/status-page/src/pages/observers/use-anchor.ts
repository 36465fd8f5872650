import { type RefObject, useLayoutEffect, useRef } from "react";
import type { OrderedView } from "../../live/ordered-view.ts";
import { useLive } from "../../live/use-live.ts";

interface Anchored {
  scroller: RefObject<HTMLDivElement | null>;
  view: OrderedView;
  rowHeight: number;
}

/** Rows that come or go above what somebody reads do not move it. At the very top the list stays there: the newest show. */
export function useAnchor({ scroller, view, rowHeight }: Anchored): void {
  const { observers } = useLive();
  const anchor = useRef<{ view: OrderedView; id: string; index: number } | null>(null);
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    const { rows } = view;
    const last = anchor.current;
    const row = last?.view === view ? observers.index.get(last.id) : undefined;
    const index = row === undefined ? -1 : rows.indexOf(row);
    if (last !== null && index >= 0 && index !== last.index && element.scrollTop >= rowHeight) {
      element.scrollTop += (index - last.index) * rowHeight;
    }
    const top = Math.floor(element.scrollTop / rowHeight);
    const id = rows.idAt(top);
    anchor.current = id === undefined ? null : { view, id, index: top };
  });
}
