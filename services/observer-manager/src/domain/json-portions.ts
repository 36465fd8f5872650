/** Splits the items, in order, into portions of so many characters as JSON; a longer item stands alone. Each is made when it is wanted. */
export function* jsonPortions<Item>(
  items: readonly Item[],
  valueOf: (item: Item) => unknown,
  mostChars: number,
): Generator<Item[]> {
  let portion: Item[] = [];
  let chars = 0;
  for (const item of items) {
    const own = JSON.stringify(valueOf(item)).length;
    if (portion.length > 0 && chars + own > mostChars) {
      yield portion;
      portion = [];
      chars = 0;
    }
    portion.push(item);
    chars += own;
  }
  if (portion.length > 0) yield portion;
}
