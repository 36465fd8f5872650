import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type RecordedTicker, readRecording, startExchange } from "@unacked/demo";
import { runObserver } from "@unacked/sdk";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import observer from "../../observers/price-watch.ts";
import { eventually } from "../support/eventually.ts";
import { RECORDED_COUNTS, RECORDING_FILE } from "../support/messages/recorded-ticks.ts";
import { startProcess } from "../support/processes/processes.ts";
import { temporaryFolder } from "../support/servers/servers.ts";

const cleanUps: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

type Emitted = { kind: "tick" | "move"; price: string; reference: string };

/** The moves of a product, read straight from the recording with the usual formula. */
function movesInFile(recording: readonly RecordedTicker[], product: string, movePercent: number): string[] {
  const prices = recording.filter((ticker) => ticker.product === product).map(({ price }) => price);
  let reference = prices[0] ?? "";
  const moves: string[] = [];
  for (const price of prices) {
    if ((Math.abs(Number(price) - Number(reference)) / Number(reference)) * 100 < movePercent) continue;
    moves.push(`${reference} → ${price}`);
    reference = price;
  }
  return moves;
}

if (!existsSync(RECORDING_FILE)) console.warn(`skipped: the recording ${RECORDING_FILE} is not there`);
describe.skipIf(!existsSync(RECORDING_FILE))("with the recording", () => {
  let recording: RecordedTicker[];
  beforeAll(async () => {
    recording = await readRecording(RECORDING_FILE);
  });

  test("it holds the ticker messages that its description says", () => {
    const counts: Record<string, number> = {};
    for (const { product } of recording) counts[product] = (counts[product] ?? 0) + 1;
    expect(counts).toEqual(RECORDED_COUNTS);
  });

  test("ten watchers see every recorded tick and emit the moves of the file, in a second replay as in the first", async () => {
    const movePercent = 0.1;
    const products = Object.keys(RECORDED_COUNTS);
    const exchange = await startExchange({ recording, speed: 60, waitForSubscriptions: products.length });
    cleanUps.push(() => exchange.close());
    let ended = 0;
    exchange.onReplayEnd(() => ended++);
    const watchers = products.map((product) => {
      const run = runObserver(observer, { params: { url: exchange.url, product, movePercent, emitTicks: true } });
      cleanUps.push(() => run.stop());
      return { product, run };
    });
    const expectAllSeen = (times: number) => {
      for (const { product, run } of watchers) {
        const ticks = (run.events as Emitted[]).filter(({ kind }) => kind === "tick");
        expect(ticks.length, product).toBe(times * (RECORDED_COUNTS[product] ?? Number.NaN));
      }
    };
    await eventually(() => ended === 1, { what: "the replay has ended" });
    await eventually(() => expectAllSeen(1));
    for (const { product, run } of watchers) {
      const moves = (run.events as Emitted[]).filter(({ kind }) => kind === "move");
      expect(
        moves.map(({ reference, price }) => `${reference} → ${price}`),
        product,
      ).toEqual(movesInFile(recording, product, movePercent));
    }
    expect(watchers.some(({ run }) => (run.events as Emitted[]).some(({ kind }) => kind === "move"))).toBe(true);

    exchange.startReplay();
    await eventually(() => ended === 2, { what: "the second replay has ended" });
    await eventually(() => expectAllSeen(2));
    const { products: state } = exchange.state();
    for (const product of products) {
      expect(state[product]).toMatchObject({ connections: 1, maxConnections: 1, ticksToNobody: 0, ticksToSeveral: 0 });
    }
  });
});

describe("the program", () => {
  const json = (product: string, n: number) =>
    `{"type":"ticker","product_id":"${product}","price":"${n}","sequence":${n},"trade_id":${n}}`;
  let file: string;
  beforeAll(async () => {
    file = join(temporaryFolder("exchange"), "recording.ws");
    await writeFile(file, `1.0: ${json("A-B", 1)}\n1.2: ${json("C-D", 2)}\n1.4: ${json("A-B", 3)}\n`);
  });

  async function start(...args: string[]) {
    const running = startProcess({ name: "exchange", file: "demo/dist/exchange.js", args });
    cleanUps.push(() => running.kill("SIGKILL"));
    const { url } = await running.waitForEvent("listening");
    return { running, url: String(url), http: String(url).replace("ws:", "http:") };
  }

  async function connect(url: string) {
    const socket = new WebSocket(url);
    cleanUps.push(async () => socket.terminate());
    const messages: Record<string, unknown>[] = [];
    socket.on("message", (data) => messages.push(JSON.parse(String(data))));
    await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
    const subscribe = (...productIds: string[]) =>
      socket.send(JSON.stringify({ type: "subscribe", product_ids: productIds, channels: ["ticker"] }));
    return { messages, subscribe };
  }

  test("it waits for its subscribers, marks the price on subscribe, replays in order, tells its state, and replays again", async () => {
    const { url, http } = await start("--recording", file, "--speed", "20", "--wait-for-subscriptions", "2");
    const client = await connect(url);
    client.subscribe("A-B");
    await eventually(() => client.messages.length === 2);
    expect(client.messages).toEqual([
      { type: "subscriptions", channels: [{ name: "ticker", product_ids: ["A-B"] }] },
      { type: "ticker", product_id: "A-B", price: "1", sequence: 0 },
    ]);
    expect(await (await fetch(`${http}/state`)).json()).toMatchObject({
      replay: { state: "waiting", number: 0, sent: 0, total: 3 },
    });

    client.subscribe("C-D");
    await eventually(() => client.messages.length === 7);
    expect(client.messages.slice(4)).toEqual(
      [json("A-B", 1), json("C-D", 2), json("A-B", 3)].map((text) => JSON.parse(text)),
    );
    expect(await (await fetch(`${http}/state`)).json()).toMatchObject({
      replay: { state: "ended", number: 1, sent: 3 },
      products: { "A-B": { lastPrice: "3", connections: 1, ticks: 2, ticksToSeveral: 0 } },
      connections: [{ closedAtMs: null, products: ["A-B", "C-D"], ticksSent: { "A-B": 2, "C-D": 1 } }],
    });

    expect((await fetch(`${http}/replay?speed=100`, { method: "POST" })).status).toBe(204);
    await eventually(() => client.messages.length === 10);
    expect((await fetch(`${http}/replay?speed=0`, { method: "POST" })).status).toBe(400);
    expect((await fetch(`${http}/nothing`)).status).toBe(404);
  });

  test("SIGTERM ends it with exit code 0, connections open or not", async () => {
    const { running, url } = await start();
    const client = await connect(url);
    client.subscribe("BTC-USD");
    await eventually(() => client.messages.length > 1);
    expect(await running.kill("SIGTERM")).toEqual({ code: 0, signal: null });
  });

  test("a port in use and a recording that is not there are named in one line", async () => {
    const { url } = await start();
    const second = startProcess({ name: "second", file: "demo/dist/exchange.js", args: ["--port", new URL(url).port] });
    expect(await second.exited).toMatchObject({ code: 1 });
    expect(second.lines).toEqual([expect.stringContaining("EADDRINUSE")]);
    const third = startProcess({ name: "third", file: "demo/dist/exchange.js", args: ["--recording", "/no/such"] });
    expect(await third.exited).toMatchObject({ code: 1 });
    expect(third.lines).toEqual([expect.stringContaining("/no/such")]);
  });
});
