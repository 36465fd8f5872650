import { expect, test } from "vitest";
import { decodeFeedMessage } from "../../observers/price-watch/ticker-message.ts";

test("a ticker is decoded to what matters", () => {
  const json =
    '{"type":"ticker","sequence":5,"product_id":"BTC-USD","price":"64000.10","trade_id":9,"time":"2021-04-17T16:43:30Z","side":"buy"}';
  expect(decodeFeedMessage(json)).toEqual({
    kind: "ticker",
    ticker: { product: "BTC-USD", price: "64000.10", sequence: 5, tradeId: 9, time: "2021-04-17T16:43:30Z" },
  });
});

test.each([
  "",
  "x",
  "null",
  "[]",
  "{}",
  '{"type":"ticker"}',
  '{"type":"ticker","product_id":"A","price":"0"}',
  '{"type":"ticker","product_id":"A","price":"-1"}',
  '{"type":"ticker","product_id":"A","price":"1e3"}',
])("%j cannot be read, and says so instead of throwing", (text) => {
  expect(decodeFeedMessage(text)).toMatchObject({ kind: "unreadable" });
});

test("an error and the subscriptions are understood, the rest is other", () => {
  expect(decodeFeedMessage('{"type":"error","message":"Failed to subscribe","reason":"X is not a valid product"}')).toEqual({
    kind: "refused",
    message: "Failed to subscribe: X is not a valid product",
  });
  expect(
    decodeFeedMessage(
      '{"type":"subscriptions","channels":[{"name":"level2","product_ids":["B"]},{"name":"ticker","product_ids":["A"]}]}',
    ),
  ).toEqual({ kind: "subscribed", products: ["A"] });
  expect(decodeFeedMessage('{"type":"heartbeat"}')).toEqual({ kind: "other", type: "heartbeat" });
});
