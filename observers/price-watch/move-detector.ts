import { type Decimal, parseDecimal, unitsAt } from "./decimal.ts";
import type { TickerMessage } from "./ticker-message.ts";

/** A price that moved far enough. Prices are the texts that the exchange sent. */
export type Move = {
  readonly price: string;
  readonly reference: string;
  readonly direction: "up" | "down";
  /** 100 × (price − reference) / reference, rounded to 6 places; signed. */
  readonly changePercent: number;
};

/** What a ticker message means for a watcher. */
export type Reading =
  | { readonly kind: "not-a-tick" }
  | { readonly kind: "tick"; readonly ticks: number; readonly move?: Move };

/** Where a detector has got to: what the next one goes on with. */
export type DetectorState = {
  /** Of the last tick, where the exchange numbers them. */
  readonly sequence?: number | undefined;
  readonly price: string;
  readonly reference: string;
};

export type MoveDetector = {
  /** Undefined before the first tick. */
  readonly state: DetectorState | undefined;
  /** Takes the next ticker message of the product. */
  read(ticker: TickerMessage): Reading;
  /** What is read from now on comes from a new connection. */
  reconnected(): void;
};

/**
 * Finds the moves in a row of ticker messages. Exactly:
 *
 * 1. A message without a trade id tells the last price and is no tick; nor is the first one with a trade of a
 *    new connection when it repeats the sequence of the last tick: the exchange hands out a price that was seen before.
 * 2. The first tick's price is the reference; it is no move. One that goes on from a state has a reference already.
 * 3. A later tick is a move when |price − reference| × 100 ≥ movePercent × reference, calculated in decimals without
 *    rounding. Its price becomes the reference.
 *
 * So reading the ticker messages of a recorded file with these three lines gives the same moves. Pure but for its own
 * memory; `movePercent` must be above 0.
 */
export function createMoveDetector(movePercent: number, before?: DetectorState): MoveDetector {
  const threshold = decimalOf(movePercent.toFixed(9));
  let state = before;
  let mayBeOld = false;
  let ticks = 0;

  return {
    get state() {
      return state;
    },
    reconnected() {
      mayBeOld = state !== undefined;
    },
    read(ticker) {
      if (ticker.tradeId === undefined) return { kind: "not-a-tick" };
      const seenBefore = mayBeOld && ticker.sequence === state?.sequence;
      mayBeOld = false;
      if (seenBefore) return { kind: "not-a-tick" };
      ticks++;
      const { sequence, price } = ticker;
      const move = state && moveBetween(state.reference, price, threshold);
      state = { sequence, price, reference: state === undefined || move ? price : state.reference };
      return { kind: "tick", ticks, ...(move && { move }) };
    },
  };
}

function moveBetween(reference: string, price: string, thresholdPercent: Decimal): Move | undefined {
  const from = decimalOf(reference);
  const to = decimalOf(price);
  const scale = Math.max(from.scale, to.scale);
  const fromUnits = unitsAt(from, scale);
  const change = unitsAt(to, scale) - fromUnits;
  const size = change < 0n ? -change : change;
  const farEnough = size * 100n * 10n ** BigInt(thresholdPercent.scale) >= thresholdPercent.units * fromUnits;
  if (!farEnough) return undefined;
  const percent = (100 * Number(change)) / Number(fromUnits);
  return {
    price,
    reference,
    direction: change > 0n ? "up" : "down",
    changePercent: Number(percent.toFixed(6)),
  };
}

function decimalOf(text: string): Decimal {
  const decimal = parseDecimal(text);
  if (decimal === undefined) throw new RangeError(`not a decimal: ${text}`);
  return decimal;
}
