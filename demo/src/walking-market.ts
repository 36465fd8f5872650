import { createRandomWalk, walkProducts } from "./random-walk.ts";
import { seededRandom } from "./seeded-random.ts";
import type { Subscriptions } from "./subscriptions.ts";
import { tickMessage } from "./ticker-protocol.ts";

/** Gives the products of the walk a trade every `tickMs` or so (± 20 %), until the returned function is called. */
export function startWalkingMarket(subscriptions: Subscriptions, seed: number, tickMs: number): () => void {
  const timers = new Map<string, NodeJS.Timeout>();
  const random = seededRandom(seed);

  for (const walkProduct of walkProducts) {
    const { product } = walkProduct;
    if (subscriptions.isProduct(product)) continue; // the recording has it
    const walk = createRandomWalk(walkProduct, seed);
    let count = 0;
    subscriptions.addProduct(product, walk.startPrice, count);
    const pause = () => setTimeout(trade, tickMs * (0.8 + 0.4 * random()));
    const trade = () => {
      const step = walk.next();
      count++;
      const ids = { product, sequence: count, tradeId: count, time: new Date().toISOString() };
      subscriptions.tick(product, step.price, count, tickMessage({ ...step, ...ids }));
      timers.set(product, pause());
    };
    timers.set(product, pause());
  }
  return () => {
    for (const timer of timers.values()) clearTimeout(timer);
  };
}
