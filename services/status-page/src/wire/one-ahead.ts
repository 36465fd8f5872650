/** What `source` yields, the next asked for while the one before is worked on. Whoever stops early lets one go that was asked for. */
export async function* oneAhead<Item>(source: AsyncGenerator<Item, void>): AsyncGenerator<Item, void> {
  try {
    for (let next = source.next(); ; ) {
      const { done, value } = await next;
      if (done) return;
      next = source.next();
      next.catch(() => undefined); // whoever comes for it is told
      yield value;
    }
  } finally {
    source.return().catch(() => undefined);
  }
}
