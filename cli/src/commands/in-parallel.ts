/** How many calls run at once: enough to hide their latency, too few to disturb others. */
const AT_ONCE = 8;

/** Calls `act` for each item, eight at a time. After the first rejection no new call begins. */
export async function inParallel<Item>(items: readonly Item[], act: (item: Item) => Promise<void>): Promise<void> {
  let next = 0;
  let hasFailed = false;
  const worker = async (): Promise<void> => {
    while (next < items.length && !hasFailed) {
      const item = items[next++] as Item;
      await act(item).catch((error: unknown) => {
        hasFailed = true;
        throw error;
      });
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, items.length) }, worker));
}
