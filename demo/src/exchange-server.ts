import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { type WebSocket, WebSocketServer } from "ws";
import { answerControl } from "./control-routes.ts";
import type { RecordedTicker } from "./recording.ts";
import { createReplay, type ReplayState } from "./replay.ts";
import { createSubscriptions, type ExchangeState, type Subscriptions } from "./subscriptions.ts";
import { decodeRequest, gapMessage, lastPriceMessage, subscriptionsMessage } from "./ticker-protocol.ts";
import { startWalkingMarket } from "./walking-market.ts";

export type ExchangeOptions = {
  /** Port on 127.0.0.1; 0, the default, is any free one. */
  readonly port?: number;
  /** Ticker messages to replay, from `readRecording`. */
  readonly recording?: readonly RecordedTicker[];
  /** How many times faster than it was recorded. Default 1. */
  readonly speed?: number;
  /**
   * When the replay begins by itself: once so many distinct products of the recording are subscribed (0, the default: at
   * once), or `manual`: only by `startReplay` or `POST /replay`.
   */
  readonly waitForSubscriptions?: number | "manual";
  /** The walk's prices are the same for the same seed. Default 1. */
  readonly seed?: number;
  /** About every how many ms a product of the walk has a trade. Default 250. */
  readonly tickMs?: number;
};

export type RunningExchange = {
  /** `ws://127.0.0.1:PORT` */
  readonly url: string;
  /** Cuts all connections and ends; resolves when the port is free. */
  close(): Promise<void>;
  /** How many connections are subscribed, by product; products without any are left out. */
  subscriptions(): Readonly<Record<string, number>>;
  state(): ExchangeState & { readonly replay: ReplayState | null };
  /** Falls silent: connections stay open, pings are answered, and no tick comes; only for those that are open now. */
  fallSilent(): void;
  /** Begins the replay from its first message. Throws when there is no recording. */
  startReplay(speed?: number): void;
  /** Calls back when a replay has sent its last message; gives the function that ends that. */
  onReplayEnd(listener: () => void): () => void;
};

const maxRequestBytes = 65_536;

/**
 * Starts the exchange: Coinbase's WebSocket `ticker` channel for a seeded random walk and, given a recording, for its
 * products. Who subscribes with the sequence that it has seen last (`since: { PRODUCT: SEQUENCE }`, which is not of Coinbase's
 * protocol) gets the ticks that it has missed first. The same port answers `GET /state`, `POST /replay` and `POST /silence`. Rejects when the port cannot be had.
 */
export async function startExchange(options: ExchangeOptions = {}): Promise<RunningExchange> {
  const { port = 0, recording = [], speed = 1, waitForSubscriptions = 0, seed = 1, tickMs = 250 } = options;
  const subscriptions = createSubscriptions();
  const recorded = addRecordedProducts(subscriptions, recording);
  const onEnd = new Set<() => void>();
  const replay = createReplay(
    recording,
    speed,
    (ticker) => subscriptions.tick(ticker.product, ticker.price, ticker.sequence, ticker.json),
    () => {
      for (const listener of onEnd) listener();
    },
  );
  const startReplay = (newSpeed?: number) => {
    if (recorded.size === 0) throw new Error("there is no recording to replay");
    subscriptions.resetCounts(recorded);
    replay.start(newSpeed);
  };
  const startReplayIfAwaited = () => {
    if (waitForSubscriptions === "manual" || recorded.size === 0 || replay.state().number > 0) return;
    if (subscriptions.watched(recorded) >= waitForSubscriptions) startReplay();
  };
  const fallSilent = () => subscriptions.forgetAll();
  const state = () => ({ ...subscriptions.state(), replay: recorded.size === 0 ? null : replay.state() });

  const server = createServer((request, response) => answerControl(request, response, { state, startReplay, fallSilent }));
  await listen(server, port);
  // Not before: it would take a port in use for an error of its own.
  const sockets = new WebSocketServer({ server, maxPayload: maxRequestBytes });
  sockets.on("connection", (socket) => serve(socket, subscriptions, startReplayIfAwaited));
  const stopWalking = startWalkingMarket(subscriptions, seed, tickMs);
  startReplayIfAwaited();

  return {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`,
    state,
    fallSilent,
    startReplay,
    onReplayEnd(listener) {
      onEnd.add(listener);
      return () => onEnd.delete(listener);
    },
    subscriptions: () =>
      Object.fromEntries(
        Object.entries(state().products)
          .map(([name, { connections }]) => [name, connections] as const)
          .filter(([, connections]) => connections > 0),
      ),
    async close() {
      stopWalking();
      replay.stop();
      for (const socket of sockets.clients) socket.terminate();
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

/** Until the replay comes to it, a recorded product's last price is the one before anything happened: its first. */
function addRecordedProducts(subscriptions: Subscriptions, recording: readonly RecordedTicker[]): Set<string> {
  const products = new Set<string>();
  for (const { product, price, sequence } of recording) {
    if (products.has(product)) continue;
    products.add(product);
    subscriptions.addProduct(product, price, sequence - 1);
  }
  return products;
}

function serve(socket: WebSocket, subscriptions: Subscriptions, onSubscribed: () => void): void {
  const connection = subscriptions.open((json) => socket.send(json), Date.now());
  // What went wrong with a socket is followed by its close, which is all that matters to an exchange.
  socket.on("error", () => socket.terminate());
  socket.on("close", () => subscriptions.close(connection, Date.now()));
  socket.on("message", (data) => {
    const request = decodeRequest(String(data), subscriptions.isProduct);
    if (request.kind === "bad") return socket.send(request.answer);
    const fresh = request.products.filter((product) => !connection.products.has(product));
    const change = request.kind === "subscribe" ? subscriptions.subscribe : subscriptions.unsubscribe;
    for (const product of request.products) change(connection, product);
    socket.send(subscriptionsMessage([...connection.products]));
    if (request.kind === "unsubscribe") return;
    for (const product of fresh) {
      const since = request.since[product];
      const missed = since === undefined ? undefined : subscriptions.missedSince(product, since);
      if (missed !== undefined) {
        subscriptions.catchUp(connection, product, missed);
        continue;
      }
      if (since !== undefined) socket.send(gapMessage(product, since));
      const { price, sequence } = subscriptions.lastOf(product);
      socket.send(lastPriceMessage(product, price, sequence));
    }
    onSubscribed();
  });
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => {
      server.off("error", reject);
      resolve();
    });
  });
}
