import { createRandomWalk, parseRecording, walkProducts } from "@unacked/demo";
import { expect, test } from "vitest";
import { parseCommandLine } from "../../demo/src/command-line.ts";
import { createSubscriptions } from "../../demo/src/subscriptions.ts";
import { createTickHistory } from "../../demo/src/tick-history.ts";
import { decodeRequest } from "../../demo/src/ticker-protocol.ts";

test("of a recording only the server's ticker messages are taken, in order and as they were", () => {
  const json = (n: number) => `{"type":"ticker","product_id":"A","price":"${n}","sequence":${n}}`;
  const text = [
    "wss://feed <-> 100.0",
    'wss://feed <- 100.1: {"type":"subscribe","channels":["ticker"]}',
    '100.2: {"type":"subscriptions","channels":[]}',
    `100.5: ${json(1)}`,
    '100.6: {"type":"l2update"}',
    `101.75: ${json(2)}`,
    "",
  ].join("\n");
  expect(parseRecording(text)).toEqual([
    { product: "A", price: "1", sequence: 1, atMs: 0, json: json(1) },
    { product: "A", price: "2", sequence: 2, atMs: 1_250, json: json(2) },
  ]);
});

test("a broken recording names its line", () => {
  expect(() => parseRecording("x\n1.0: {broken")).toThrow("line 2 of the recording is not JSON");
  expect(() => parseRecording('1.0: {"type":"ticker"}')).toThrow(/line 1 .* without product_id/);
});

test("the walk is the same for the same seed, another for another, and stays believable", () => {
  for (const from of walkProducts) {
    const prices = (seed: number) => {
      const walk = createRandomWalk(from, seed);
      return Array.from({ length: 20_000 }, () => walk.next().price);
    };
    const first = prices(1);
    expect(prices(1)).toEqual(first);
    expect(prices(2)).not.toEqual(first);
    const factors = first.map((price) => Number(price) / from.startPrice);
    expect(Math.min(...factors)).toBeGreaterThan(0.5);
    expect(Math.max(...factors)).toBeLessThan(2);
  }
});

test.each([
  ["{", "Malformed JSON", undefined],
  ["[]", "Malformed JSON", undefined],
  ['{"type":"buy"}', "Type has to be either subscribe or unsubscribe", undefined],
  ['{"type":"subscribe","product_ids":["A"]}', "Failed to subscribe", "no channels provided"],
  ['{"type":"subscribe","channels":["ticker"]}', "Failed to subscribe", "no product_ids provided"],
  ['{"type":"subscribe","product_ids":["B"],"channels":["ticker"]}', "Failed to subscribe", "B is not a valid product"],
  ['{"type":"subscribe","product_ids":["A"],"channels":["level9"]}', "Failed to subscribe", "level9 is not a valid channel"],
])("the exchange answers %s with an error message", (text, message, reason) => {
  const request = decodeRequest(text, (product) => product === "A");
  if (request.kind !== "bad") throw new Error("this request should be refused");
  expect(JSON.parse(request.answer)).toEqual({ type: "error", message, ...(reason && { reason }) });
});

test("both of Coinbase's ways to name a channel are understood", () => {
  const byName = '{"type":"subscribe","product_ids":["A","A"],"channels":["ticker"]}';
  const asObject = '{"type":"subscribe","channels":[{"name":"ticker","product_ids":["A"]}]}';
  for (const text of [byName, asObject]) {
    expect(decodeRequest(text, () => true)).toEqual({ kind: "subscribe", products: ["A"], since: {} });
  }
});

test("beside it a client may say which tick it has seen last, and is sent what came after; of another one nothing is known", () => {
  const text = '{"type":"subscribe","product_ids":["A"],"channels":["ticker"],"since":{"A":7,"B":"x"}}';
  expect(decodeRequest(text, () => true)).toMatchObject({ since: { A: 7 } });
  const history = createTickHistory(0);
  for (const sequence of [1, 5, 7]) history.add(sequence, `tick ${sequence}`);
  expect([0, 5, 7, 6].map((since) => history.after(since))).toEqual([
    ["tick 1", "tick 5", "tick 7"],
    ["tick 7"],
    [],
    undefined,
  ]);
  // A replay begins its numbers again.
  history.add(1, "tick 1 again");
  expect([7, 1].map((since) => history.after(since))).toEqual([["tick 1 again"], []]);
  for (let sequence = 100; sequence < 50_000; sequence += 1) history.add(sequence, "");
  expect([history.after(7), history.after(49_999)]).toEqual([undefined, []]);
});

test("the books of the exchange show a tick that two connections got, and one that nobody got", () => {
  const subscriptions = createSubscriptions();
  subscriptions.addProduct("A", "1", 0);
  const sent: string[] = [];
  const first = subscriptions.open((json) => sent.push(json), 1);
  const second = subscriptions.open((json) => sent.push(json), 2);
  subscriptions.tick("A", "2", 1, "nobody");
  subscriptions.subscribe(first, "A");
  subscriptions.subscribe(second, "A");
  subscriptions.tick("A", "3", 2, "two");
  subscriptions.close(first, 3);
  subscriptions.tick("A", "4", 3, "one");
  expect(sent).toEqual(["two", "two", "one"]);
  expect(subscriptions.state()).toEqual({
    products: { A: { lastPrice: "4", connections: 1, maxConnections: 2, ticks: 3, ticksToNobody: 1, ticksToSeveral: 1 } },
    connections: [
      { id: 1, openedAtMs: 1, closedAtMs: 3, products: ["A"], ticksSent: { A: 1 } },
      { id: 2, openedAtMs: 2, closedAtMs: null, products: ["A"], ticksSent: { A: 2 } },
    ],
  });
  subscriptions.resetCounts(["A"]);
  expect(subscriptions.state().products.A).toMatchObject({ ticks: 0, ticksToSeveral: 0, maxConnections: 1 });
});

test.each([
  ["--port", "70000"],
  ["--speed", "0"],
  ["--wait-for-subscriptions", "x"],
  ["--colour", "red"],
])("the command line %s %s is refused, naming the option", (option, value) => {
  expect(parseCommandLine([option, value])).toMatchObject({ kind: "wrong", message: expect.stringContaining(option) });
});
