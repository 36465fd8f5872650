import { useState } from "react";
import type { OrderedView } from "../../live/ordered-view.ts";
import { useLive } from "../../live/use-live.ts";

interface ActiveRow {
  /** −1: none. */
  index: number;
  id: string | undefined;
  activate: (id: string | undefined) => void;
}

/**
 * The row on which keys act; it is always one that is shown. When it leaves the list, whatever stands in its place then: who goes on with
 * the arrows goes on from there. Of another list none, unless it is there too.
 */
export function useActiveRow(view: OrderedView): ActiveRow {
  const { observers } = useLive();
  const [active, setActive] = useState<{ view: OrderedView; id: string; index: number } | null>(null);
  const { rows } = view;
  const activate = (id: string | undefined) => setActive(id === undefined ? null : { view, id, index: -1 });
  const row = active === null ? undefined : observers.index.get(active.id);
  let index = row === undefined ? -1 : rows.indexOf(row);
  let id = row?.id;
  if (index < 0 && active?.view === view && active.index >= 0) {
    index = Math.min(active.index, rows.length - 1);
    id = rows.idAt(index);
  }
  // Seen while it is drawn: another drawing follows at once, of nothing that anybody has seen.
  if (id !== undefined && index >= 0 && (active?.id !== id || active.index !== index || active.view !== view))
    setActive({ view, id, index });
  return { index, id: index >= 0 ? id : undefined, activate };
}
