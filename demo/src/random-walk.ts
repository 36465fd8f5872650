import { seededRandom, seedFor } from "./seeded-random.ts";

/** How a product of the walk begins and how wildly it moves. */
export type WalkProduct = {
  readonly product: string;
  readonly startPrice: number;
  /** Places after the point. */
  readonly decimals: number;
  /** A usual step, in percent of the price. */
  readonly stepPercent: number;
};

export const walkProducts: readonly WalkProduct[] = [
  { product: "BTC-USD", startPrice: 64_000, decimals: 2, stepPercent: 0.03 },
  { product: "ETH-USD", startPrice: 3_400, decimals: 2, stepPercent: 0.04 },
  { product: "SOL-USD", startPrice: 145, decimals: 2, stepPercent: 0.06 },
  { product: "DOGE-USD", startPrice: 0.12, decimals: 5, stepPercent: 0.08 },
  { product: "ADA-USD", startPrice: 0.38, decimals: 4, stepPercent: 0.05 },
];

/** One trade of the walk. Prices and sizes are decimal texts, as an exchange writes them. */
export type WalkStep = {
  readonly price: string;
  readonly side: "buy" | "sell";
  readonly size: string;
  readonly bestBid: string;
  readonly bestAsk: string;
};

export type RandomWalk = { readonly product: string; readonly startPrice: string; next(): WalkStep };

/**
 * An endless row of prices, the same for the same seed. Steps are drawn from about a normal distribution and pulled a
 * little towards the start, so that a demonstration left running for a week still shows believable prices.
 */
export function createRandomWalk(from: WalkProduct, seed: number): RandomWalk {
  const { product, startPrice, decimals, stepPercent } = from;
  const random = seededRandom(seedFor(seed, product));
  const aboutNormal = () => random() + random() + random() + random() - 2;
  const smallest = 10 ** -decimals;
  const write = (price: number) => Math.max(price, smallest).toFixed(decimals);
  let logPrice = 0;

  return {
    product,
    startPrice: write(startPrice),
    next() {
      logPrice += (stepPercent / 100) * aboutNormal() * Math.sqrt(3) - logPrice * 0.0005;
      const price = startPrice * Math.exp(logPrice);
      const halfSpread = Math.max(smallest, price * 0.0001);
      return {
        price: write(price),
        side: random() < 0.5 ? "buy" : "sell",
        size: (0.001 + random() * 2).toFixed(8),
        bestBid: write(price - halfSpread),
        bestAsk: write(price + halfSpread),
      };
    },
  };
}
