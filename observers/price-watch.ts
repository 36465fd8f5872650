import { backoff, defineObserver, type ObserverContext, restrictObserver, sleep } from "@unacked/sdk";
import { z } from "zod";
import { createMoveDetector } from "./price-watch/move-detector.ts";
import { followTicker } from "./price-watch/ticker-feed.ts";
import type { FeedMessage } from "./price-watch/ticker-message.ts";

const WatchParams = z.strictObject({
  url: z
    .url({ protocol: /^wss?$/, error: "must be a ws:// or wss:// address" })
    .describe("The exchange's WebSocket address, for example wss://ws-feed.exchange.coinbase.com."),
  product: z
    .string()
    .regex(/^[A-Za-z0-9_./-]{1,32}$/)
    .describe("The product to follow, as the exchange names it, for example BTC-USD."),
  movePercent: z
    .number()
    .min(0.000_001)
    .max(10_000)
    .describe("How far the price has to move from the last emitted one, in percent: 0.5 is half a percent."),
  emitTicks: z.boolean().default(false).describe("Whether to emit every tick too, not only the moves."),
  silentAfterMs: z
    .int()
    .min(100)
    .max(600_000)
    .default(30_000)
    .describe("Milliseconds without any sign of life after which the connection is replaced."),
  reconnectMaxMs: z
    .int()
    .min(100)
    .max(600_000)
    .default(30_000)
    .describe("The longest pause between two attempts to connect, in milliseconds."),
});

/**
 * Follows one product's price on an exchange that speaks Coinbase's WebSocket `ticker` channel, for example
 * `wss://ws-feed.exchange.coinbase.com`. Emits
 *
 * - `{ kind: "move", product, price, reference, direction, changePercent, ticks, sequence, time }` when the price has moved by
 *   `movePercent` from the reference (what that means exactly: `price-watch/move-detector.ts`). `ticks` counts the ticks of this run.
 * - `{ kind: "tick", product, price, ticks, sequence, time }` for every tick if `emitTicks` is set.
 *
 * Reconnects by itself; the reference is kept over a reconnect, and begins empty with each run.
 */
export default restrictObserver(({ privateAddresses }) =>
  defineObserver({
    type: "price-watch",
    description:
      "Follows a price on an exchange and emits when it has moved by a given percentage: nothing at first, as moves are counted from the first price that it sees.",
    params: WatchParams,
    run: (context) => watch(context, privateAddresses),
  }),
);

async function watch(
  { params, signal, log, emit }: ObserverContext<z.output<typeof WatchParams>>,
  privateAddresses: boolean,
): Promise<void> {
  const { url, product, movePercent, emitTicks, silentAfterMs, reconnectMaxMs } = params;
  const detector = createMoveDetector(movePercent);
  const pause = backoff({ initialMs: 250, maxMs: reconnectMaxMs, jitter: 0.5 });

  while (!signal.aborted) {
    detector.reconnected();
    const onMessage = (message: FeedMessage) => {
      if (message.kind === "subscribed") log.info("subscribed", { url, products: message.products });
      if (message.kind === "unreadable") log.warn("ignored a message of the exchange", { why: message.why });
      if (message.kind !== "ticker" || message.ticker.product !== product) return;
      const { price, sequence, time } = message.ticker;
      const reading = detector.read(message.ticker);
      pause.reset();
      if (reading.kind === "not-a-tick") return;
      const { ticks, move } = reading;
      if (emitTicks) void emit({ kind: "tick", product, price, ticks, sequence, time });
      if (move) void emit({ kind: "move", product, ...move, ticks, sequence, time });
    };

    const end = await followTicker({ url, product, signal, privateAddresses, silentAfterMs, onMessage });
    if (end.by === "abort") return;
    const delayMs = pause.nextMs();
    log.warn("connection to the exchange lost, trying again", { why: end.why, delayMs });
    await sleep(delayMs, signal);
  }
}
