/** Which rows are chosen. A new object for each change, so that a view sees it by identity. */
export interface Selection {
  readonly ids: ReadonlySet<string>;
  /** Where the last choice was made; a range reaches from here. */
  readonly anchor: string | null;
}

export const NOTHING_CHOSEN: Selection = { ids: new Set(), anchor: null };

export function toggled({ ids }: Selection, id: string): Selection {
  const next = new Set(ids);
  if (!next.delete(id)) next.add(id);
  return { ids: next, anchor: id };
}

/** Everything between the anchor and `id`, both included, beside what is chosen already. */
export function extendedTo({ ids, anchor }: Selection, id: string, order: readonly string[]): Selection {
  const [from, to] = [order.indexOf(anchor ?? id), order.indexOf(id)];
  if (from < 0 || to < 0) return toggled({ ids, anchor }, id);
  return { ids: new Set([...ids, ...order.slice(Math.min(from, to), Math.max(from, to) + 1)]), anchor: anchor ?? id };
}

/** Whether each row that is shown is chosen; what was chosen under another filter is chosen still, and none of them. */
export const areAllChosen = ({ ids }: Selection, shown: { length: number; has(id: string): boolean }): boolean =>
  shown.length > 0 && ids.size >= shown.length && [...ids].filter((id) => shown.has(id)).length === shown.length;

export const allOf = (order: readonly string[]): Selection => ({ ids: new Set(order), anchor: null });
