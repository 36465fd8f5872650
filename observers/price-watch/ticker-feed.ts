import { WebSocket } from "ws";
import { AddressRefused, lookupPublic, refuseInnerAddress } from "../outbound/reach.ts";
import { decodeFeedMessage, type FeedMessage } from "./ticker-message.ts";

export type TickerFeedOptions = {
  readonly url: string;
  readonly product: string;
  /** The exchange is asked to send first what came after this sequence; not asked if left out. */
  readonly since: number | undefined;
  readonly signal: AbortSignal;
  /** Whether addresses that are not public may be connected to. */
  readonly privateAddresses: boolean;
  /** A connection that says nothing, not even a pong, for this long is given up. */
  readonly silentAfterMs: number;
  /** Each decoded message in order; none comes after the signal's abort. */
  readonly onMessage: (message: FeedMessage) => void;
};

/** Why a connection ended: by us, or what the network said. */
export type FeedEnd = { readonly by: "abort" } | { readonly by: "network"; readonly why: string };

const handshakeTimeoutMs = 10_000;
/** How long a close may take before the socket is cut. */
const closeTimeoutMs = 500;
const maxMessageBytes = 1_048_576;

/** The exchange said no to the subscription: waiting will not help, so the run fails and its retry policy decides. */
export class SubscriptionRefused extends Error {
  override readonly name = "SubscriptionRefused";
  readonly code = "subscription-refused";
}

/**
 * Holds one connection to an exchange: connects, subscribes to the product's ticker, hands over what comes. Resolves when
 * the socket is closed, by the abort or the network. Rejects, the socket closed too, with {@link SubscriptionRefused},
 * {@link AddressRefused} or with what `onMessage` threw.
 */
export async function followTicker(options: TickerFeedOptions): Promise<FeedEnd> {
  const { url, product, since, signal, privateAddresses, silentAfterMs, onMessage } = options;
  if (signal.aborted) return { by: "abort" };
  if (!privateAddresses) refuseInnerAddress(new URL(url).hostname);

  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url, {
      handshakeTimeout: handshakeTimeoutMs,
      maxPayload: maxMessageBytes,
      perMessageDeflate: false,
      ...(!privateAddresses && { lookup: lookupPublic }),
    });
    let failure: Error | undefined;
    let networkSays: string | undefined;
    let cut: NodeJS.Timeout | undefined;
    const silence = watchSilence(socket, silentAfterMs, () => {
      networkSays = `silent for ${silentAfterMs} ms`;
      socket.terminate();
    });

    const close = () => {
      socket.close(1000);
      cut ??= setTimeout(() => socket.terminate(), closeTimeoutMs);
    };
    const fail = (error: Error) => {
      failure ??= error;
      close();
    };
    signal.addEventListener("abort", close, { once: true });

    socket.on("open", () => {
      if (signal.aborted) return;
      const from = since === undefined ? {} : { since: { [product]: since } };
      socket.send(JSON.stringify({ type: "subscribe", product_ids: [product], channels: ["ticker"], ...from }));
    });
    socket.on("message", (data) => {
      if (signal.aborted || failure !== undefined) return;
      const message = decodeFeedMessage(String(data));
      try {
        if (message.kind === "refused") fail(new SubscriptionRefused(`the exchange says: ${message.message}`));
        else onMessage(message);
      } catch (error) {
        fail(error instanceof Error ? error : new Error(String(error)));
      }
    });
    socket.on("error", (error) => {
      if (error instanceof AddressRefused) failure ??= error;
      networkSays ??= error.message;
    });
    socket.on("close", (code, reason) => {
      silence.end();
      clearTimeout(cut);
      signal.removeEventListener("abort", close);
      if (failure !== undefined) return reject(failure);
      if (signal.aborted) return resolve({ by: "abort" });
      resolve({ by: "network", why: networkSays ?? `closed with ${code} ${String(reason)}`.trim() });
    });
  });
}

/** Asks for a sign of life when half the time is over, and calls `onSilent` when all of it is. Anything received counts. */
function watchSilence(socket: WebSocket, silentAfterMs: number, onSilent: () => void) {
  let lastHeardMs = performance.now();
  const heard = () => {
    lastHeardMs = performance.now();
  };
  for (const event of ["open", "message", "ping", "pong"]) socket.on(event, heard);
  const timer = setInterval(() => {
    const silentMs = performance.now() - lastHeardMs;
    if (silentMs >= silentAfterMs) return onSilent();
    if (silentMs >= silentAfterMs / 2 && socket.readyState === WebSocket.OPEN) socket.ping();
  }, silentAfterMs / 4);
  return { end: () => clearInterval(timer) };
}
