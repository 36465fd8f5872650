import { setImmediate as nextTurn } from "node:timers/promises";

/** Everybody else waits so long for it at a time. */
const SLICE_MS = 10;

/** What was found is for who asked: a body of 30 MiB would be kept until somebody asks again. */
const forget = (): void => undefined;

/** Searches go one after the other: each of many at once would have a slice of each turn of the loop. */
let before: Promise<unknown> = Promise.resolve();

/**
 * Takes as many as there are, `most` at most, of what takes a while to be found: a thousand times of an expression are half a second. What
 * comes in meanwhile, heartbeats too, has its turn between two slices. Undefined stands for none.
 */
export function inSlices<Item>(items: Iterable<Item | undefined>, most = Number.POSITIVE_INFINITY): Promise<Item[]> {
  const found = before.then(() => find(items, most));
  before = found.then(forget, forget);
  return found;
}

async function find<Item>(items: Iterable<Item | undefined>, most: number): Promise<Item[]> {
  const found: Item[] = [];
  let sliceEndMs = performance.now() + SLICE_MS;
  for (const item of items) {
    if (item !== undefined) found.push(item);
    if (found.length >= most) break;
    if (performance.now() < sliceEndMs) continue;
    await nextTurn();
    sliceEndMs = performance.now() + SLICE_MS;
  }
  return found;
}

/** What becomes of each, in their order. A single one waits for nobody. */
export const eachInSlices = async <Item, Result>(items: readonly Item[], to: (item: Item) => Result): Promise<Result[]> =>
  items.length > 1 ? inSlices(each(items, to)) : items.map((item) => to(item));

function* each<Item, Result>(items: readonly Item[], to: (item: Item) => Result): Generator<Result> {
  for (const item of items) yield to(item);
}
