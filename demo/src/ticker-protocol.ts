/** What a client asks for, or the error message that it gets for asking badly. */
export type ClientRequest =
  | {
      readonly kind: "subscribe" | "unsubscribe";
      readonly products: readonly string[];
      /** The sequence of the last tick that the client has seen, by product. Not of Coinbase's protocol. */
      readonly since: Readonly<Record<string, number>>;
    }
  | { readonly kind: "bad"; readonly answer: string };

/** Decodes a client's message; `isProduct` says which products there are. Never throws. */
export function decodeRequest(text: string, isProduct: (product: string) => boolean): ClientRequest {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return bad("Malformed JSON");
  }
  if (!isRecord(body)) return bad("Malformed JSON");
  const { type, product_ids: shared, channels } = body;
  if (type !== "subscribe" && type !== "unsubscribe") {
    return bad("Type has to be either subscribe or unsubscribe");
  }
  const failed = (reason: string) => bad(`Failed to ${type}`, reason);
  // Coinbase takes a channel by name with the shared product_ids, or as an object with its own.
  const asked = Array.isArray(channels) ? channels : [];
  if (asked.length === 0) return failed("no channels provided");
  const products: unknown[] = [];
  for (const channel of asked) {
    const name: unknown = isRecord(channel) ? channel.name : channel;
    if (name !== "ticker") return failed(`${String(name)} is not a valid channel`);
    const own: unknown = isRecord(channel) && Array.isArray(channel.product_ids) ? channel.product_ids : shared;
    if (Array.isArray(own)) products.push(...(own as unknown[]));
  }
  if (products.length === 0) return failed("no product_ids provided");
  const unknown = products.find((product) => typeof product !== "string" || !isProduct(product));
  if (unknown !== undefined) return failed(`${String(unknown)} is not a valid product`);
  return { kind: type, products: [...new Set(products as string[])], since: sequencesOf(body.since) };
}

function sequencesOf(since: unknown): Record<string, number> {
  if (!isRecord(since)) return {};
  const sequences = Object.entries(since).filter(([, sequence]) => typeof sequence === "number");
  return Object.fromEntries(sequences) as Record<string, number>;
}

/** Sent before the last price to a client that has seen a tick which this exchange does not know (any more). */
export function gapMessage(product: string, since: number): string {
  return JSON.stringify({ type: "gap", product_id: product, since });
}

/** The answer to a subscribe or unsubscribe: all that the connection is subscribed to now. */
export function subscriptionsMessage(products: readonly string[]): string {
  const channels = products.length === 0 ? [] : [{ name: "ticker", product_ids: products }];
  return JSON.stringify({ type: "subscriptions", channels });
}

/**
 * The last price, sent on subscribe. It is told apart from a tick by what it does not have: `trade_id`, `last_size`, `side`
 * and `time`, since no trade happened. (Coinbase's own first message was like that for years; later, as in the
 * recording of 2021, it is the product's last trade, whole.)
 */
export function lastPriceMessage(product: string, price: string, sequence: number): string {
  return JSON.stringify({ type: "ticker", sequence, product_id: product, price });
}

/** A tick of the random walk. Sequence and trade id count up, `time` is ISO 8601. */
export function tickMessage(tick: {
  readonly product: string;
  readonly price: string;
  readonly sequence: number;
  readonly tradeId: number;
  readonly side: "buy" | "sell";
  readonly size: string;
  readonly bestBid: string;
  readonly bestAsk: string;
  readonly time: string;
}): string {
  return JSON.stringify({
    type: "ticker",
    sequence: tick.sequence,
    product_id: tick.product,
    price: tick.price,
    best_bid: tick.bestBid,
    best_ask: tick.bestAsk,
    side: tick.side,
    time: tick.time,
    trade_id: tick.tradeId,
    last_size: tick.size,
  });
}

function bad(message: string, reason?: string): ClientRequest {
  return { kind: "bad", answer: JSON.stringify({ type: "error", message, reason }) };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
