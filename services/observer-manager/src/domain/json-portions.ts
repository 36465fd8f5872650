/** In order, those that are so many characters together as JSON, or one that is longer; the next ones are looked at when they are wanted. */
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
