import { parseDecimal } from "./decimal.ts";

/** A ticker message of Coinbase's `ticker` channel, as far as it matters here. */
export type TickerMessage = {
  readonly product: string;
  /** Decimal text above 0, as it was sent. */
  readonly price: string;
  readonly sequence?: number;
  /** Number of the trade that made this price; without one the message only tells the last price. */
  readonly tradeId?: number;
  /** Time of the trade by the exchange's clock, ISO 8601. */
  readonly time?: string;
};

/** What the exchange said, decoded. */
export type FeedMessage =
  | { readonly kind: "ticker"; readonly ticker: TickerMessage }
  | { readonly kind: "subscribed"; readonly products: readonly string[] }
  /** The exchange cannot send what came after the sequence that it was asked to go on from. */
  | { readonly kind: "gap"; readonly product: string }
  | { readonly kind: "refused"; readonly message: string }
  | { readonly kind: "other"; readonly type: string }
  | { readonly kind: "unreadable"; readonly why: string };

/** Decodes one message of the exchange; never throws. */
export function decodeFeedMessage(text: string): FeedMessage {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return { kind: "unreadable", why: "not JSON" };
  }
  if (!isRecord(body) || typeof body.type !== "string") return { kind: "unreadable", why: "no message type" };
  switch (body.type) {
    case "ticker":
      return decodeTicker(body);
    case "subscriptions":
      return { kind: "subscribed", products: subscribedProducts(body.channels) };
    case "gap":
      return isText(body.product_id)
        ? { kind: "gap", product: body.product_id }
        : { kind: "unreadable", why: "a gap without product_id" };
    case "error":
      return { kind: "refused", message: [body.message, body.reason].filter(isText).join(": ") };
    default:
      return { kind: "other", type: body.type };
  }
}

function decodeTicker(body: Record<string, unknown>): FeedMessage {
  const { product_id: product, price, sequence, trade_id: tradeId, time } = body;
  if (!isText(product)) return { kind: "unreadable", why: "a ticker without product_id" };
  const decimal = isText(price) ? parseDecimal(price) : undefined;
  if (!isText(price) || decimal === undefined || decimal.units === 0n) {
    return { kind: "unreadable", why: "a ticker whose price is no decimal above 0" };
  }
  return {
    kind: "ticker",
    ticker: {
      product,
      price,
      ...(typeof sequence === "number" && { sequence }),
      ...(typeof tradeId === "number" && { tradeId }),
      ...(isText(time) && { time }),
    },
  };
}

function subscribedProducts(channels: unknown): string[] {
  if (!Array.isArray(channels)) return [];
  return channels
    .filter((channel) => isRecord(channel) && channel.name === "ticker")
    .flatMap((channel) => (Array.isArray(channel.product_ids) ? channel.product_ids : []))
    .filter(isText);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}
