const ENDS = ["newest", "oldest"] as const;
type End = (typeof ENDS)[number];

/** `limit` rows from that end on, behind `cursor`. */
export interface PlaceAsked {
  sort: End;
  limit: number;
  cursor?: string;
}

export interface PageRead<Row> {
  rows: Row[];
  /** All that there are, not only this page. */
  total: number;
  nextCursor: string | null;
}

interface Sizes {
  /** The first page is to be seen at once; of the others fewer are better. */
  first: number;
  others: number;
}

/**
 * Reads a list from both of its ends until they meet: while a page is worked on, another is under way. The newest come first. Guarantees: each row
 * that is there from begin to end comes once, none twice; rows that come and go meanwhile change nothing of that, as none changes its
 * place among the others. @param ask resolves to undefined where that end cannot be read: the other one is then read alone
 */
export async function* bothEnds<Row extends { id: string }>(
  ask: (place: PlaceAsked) => Promise<PageRead<Row> | undefined>,
  sizes: Sizes,
): AsyncGenerator<PageRead<Row>, void> {
  const first = await ask({ sort: "newest", limit: sizes.first });
  if (first === undefined) return;
  yield first;
  if (first.nextCursor === null) return;
  const seen = new Set(first.rows.map(({ id }) => id));
  let unasked = first.total - first.rows.length;
  const underWay = new Map<End, Promise<{ end: End; page: PageRead<Row> | undefined }>>();
  const cursors: Record<End, string | null> = { newest: first.nextCursor, oldest: null };

  function askOn(end: End): void {
    // One row more than the others need: by it they are known to meet.
    const limit = unasked > 0 ? Math.min(unasked + 1, sizes.others) : sizes.others;
    unasked -= limit;
    const cursor = cursors[end];
    const page = ask({ sort: end, limit, ...(cursor !== null && { cursor }) }).then((read) => ({ end, page: read }));
    page.catch(() => undefined); // whoever comes for it is told
    underWay.set(end, page);
  }

  askOn("newest");
  if (unasked > 0) askOn("oldest");
  while (underWay.size > 0) {
    const { end, page } = await Promise.race(underWay.values());
    underWay.delete(end);
    if (page !== undefined) {
      cursors[end] = page.nextCursor;
      const rows = page.rows.filter(({ id }) => !seen.has(id));
      const isOver = page.nextCursor === null || rows.length < page.rows.length;
      for (const { id } of rows) seen.add(id);
      if (!isOver && unasked > 0) askOn(end);
      yield { ...page, rows };
      if (isOver) return;
    }
    if (underWay.size === 0) askOn("newest");
  }
}
