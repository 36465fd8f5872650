import {
  backoff,
  type CheckpointContext,
  defineObserver,
  isObserverStopped,
  type ObserverContext,
  restrictObserver,
  sleep,
} from "@unacked/sdk";
import { z } from "zod";
import { createLatestSave } from "./price-watch/latest-save.ts";
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
  resume: z
    .boolean()
    .default(false)
    .describe(
      "Whether to ask the exchange for what was missed, over a reconnect or a move: for those that can send it, as the demonstration's can. Coinbase's cannot.",
    ),
  reconnectMaxMs: z
    .int()
    .min(100)
    .max(600_000)
    .default(30_000)
    .describe("The longest pause between two attempts to connect, in milliseconds."),
});

/** Prices are decimal texts above 0, as the exchange sends them. */
const price = z.string().regex(/^(?=.*[1-9])\d{1,30}(?:\.\d{1,30})?$/);

/** `product` and `url`: of what it is; another one begins with nothing. */
const WatchCheckpoint = z.strictObject({
  url: z.string(),
  product: z.string(),
  sequence: z.number().optional(),
  price,
  reference: price,
});

/**
 * Follows one product's price on an exchange that speaks Coinbase's WebSocket `ticker` channel, for example
 * `wss://ws-feed.exchange.coinbase.com`. Emits
 *
 * - `{ kind: "move", product, price, reference, direction, changePercent, ticks, sequence, time }` when the price has moved by
 *   `movePercent` from the reference (what that means exactly: `price-watch/move-detector.ts`). `ticks` counts the ticks of this run.
 * - `{ kind: "tick", product, price, ticks, sequence, time }` for every tick if `emitTicks` is set.
 *
 * - `{ kind: "gap", product, since }` with `resume`, when the exchange does not know the tick that was seen last: what came after it is not
 *   known, and it goes on with what comes now.
 *
 * Reconnects by itself. Its checkpoint is the sequence, the price and the reference of the last tick: moves go on from the same reference over a
 * reconnect, a failover and a pause. With `resume` no tick is missed meanwhile; those since the last checkpoint come out again after a crash.
 */
export default restrictObserver(({ privateAddresses }) =>
  defineObserver({
    type: "price-watch",
    description:
      "Follows a price on an exchange and emits when it has moved by a given percentage: nothing at first, as moves are counted from the first price that it sees.",
    params: WatchParams,
    checkpoint: WatchCheckpoint,
    run: (context) => watch(context, privateAddresses),
  }),
);

type Params = z.output<typeof WatchParams>;
type Saved = z.output<typeof WatchCheckpoint>;

async function watch(
  { params, signal, log, emit, alive, checkpoint, saveCheckpoint }: ObserverContext<Params> & CheckpointContext<Saved>,
  privateAddresses: boolean,
): Promise<void> {
  const { url, product, movePercent, emitTicks, silentAfterMs, resume, reconnectMaxMs } = params;
  const isOurs = checkpoint?.url === url && checkpoint.product === product;
  const detector = createMoveDetector(movePercent, isOurs ? checkpoint : undefined);
  const broken = new AbortController();
  // Behind what nobody was told nothing is saved, also where the save before it is confirmed after that was refused.
  const saves = createLatestSave((saved: Saved) => (broken.signal.aborted ? Promise.resolve() : saveCheckpoint(saved)));
  const until = AbortSignal.any([signal, broken.signal]);
  /** Where nothing is to be missing, what nobody was told is asked for again: from the checkpoint before it, which is the last that is saved. */
  const tell = (event: object): void => {
    emit(event).catch((error: unknown) => {
      if (resume && !isObserverStopped(error)) broken.abort(error);
    });
  };
  const pause = backoff({ initialMs: 250, maxMs: reconnectMaxMs, jitter: 0.5 });

  while (!until.aborted) {
    detector.reconnected();
    const since = resume ? detector.state?.sequence : undefined;
    const onMessage = (message: FeedMessage) => {
      if (broken.signal.aborted) return;
      if (message.kind === "subscribed") log.info("subscribed", { url, products: message.products, since });
      if (message.kind === "unreadable") log.warn("ignored a message of the exchange", { why: message.why });
      if (message.kind === "gap" && message.product === product) {
        log.warn("the exchange does not know what was seen last, something may be missing", { since });
        tell({ kind: "gap", product, since });
      }
      if (message.kind !== "ticker" || message.ticker.product !== product) return;
      alive();
      const { price, sequence, time } = message.ticker;
      const reading = detector.read(message.ticker);
      pause.reset();
      if (reading.kind === "not-a-tick") return;
      const { ticks, move } = reading;
      if (emitTicks) tell({ kind: "tick", product, price, ticks, sequence, time });
      if (move) tell({ kind: "move", product, ...move, ticks, sequence, time });
      if (detector.state) saves.note({ url, product, ...detector.state });
    };

    const end = await followTicker({ url, product, since, signal: until, privateAddresses, silentAfterMs, onMessage });
    if (end.by === "abort") break;
    const delayMs = pause.nextMs();
    log.warn("connection to the exchange lost, trying again", { why: end.why, delayMs });
    await sleep(delayMs, until);
  }
  if (broken.signal.aborted && !signal.aborted) throw broken.signal.reason;
  saves.flush();
}
