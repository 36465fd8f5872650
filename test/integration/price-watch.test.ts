import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { startExchange } from "@unacked/demo";
import { everythingPermitted, type HarnessRun, runObserver } from "@unacked/sdk";
import { createRunContext } from "@unacked/sdk/host";
import { afterEach, expect, test } from "vitest";
import { type WebSocket, WebSocketServer } from "ws";
import { createLatestSave } from "../../observers/price-watch/latest-save.ts";
import observer from "../../observers/price-watch.ts";
import { eventually } from "../support/eventually.ts";

const cleanUps: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

function watch(params: object): HarnessRun {
  const run = runObserver(observer, { params: { product: "BTC-USD", movePercent: 1, reconnectMaxMs: 100, ...params } });
  cleanUps.push(() => run.stop());
  return run;
}

async function exchange(port = 0) {
  const running = await startExchange({ port, tickMs: 5 });
  cleanUps.push(() => running.close());
  return running;
}

/** An exchange that does only what the test tells it to. */
async function puppet(onConnection: (socket: WebSocket, connections: number) => void) {
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0, autoPong: false });
  let connections = 0;
  server.on("connection", (socket) => onConnection(socket, ++connections));
  await once(server, "listening");
  cleanUps.push(() => {
    for (const socket of server.clients) socket.terminate();
    return new Promise((resolve) => server.close(resolve));
  });
  return { url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`, connections: () => connections };
}

const ticker = (price: string, trade?: number) =>
  JSON.stringify({ type: "ticker", product_id: "BTC-USD", price, sequence: trade ?? 0, ...(trade && { trade_id: trade }) });

test("it subscribes, emits the moves of its product, and leaves when it is stopped", async () => {
  const { url, subscriptions } = await exchange();
  const run = watch({ url, movePercent: 0.05 });
  const move = await run.waitForEvent<Record<string, unknown>>();
  expect(move).toMatchObject({ kind: "move", product: "BTC-USD", price: expect.stringMatching(/^\d+\.\d\d$/) });
  expect(Math.abs(Number(move.changePercent))).toBeGreaterThanOrEqual(0.05);
  expect(subscriptions()).toEqual({ "BTC-USD": 1 });
  expect(await run.stop()).toEqual({ outcome: "stopped" });
  await eventually(() => expect(subscriptions()).toEqual({}));
});

test("two seeds alike give two watchers the same prices, tick by tick", async () => {
  const prices = async () => {
    const { url } = await exchange();
    const run = watch({ url, emitTicks: true });
    await run.waitForEvent<{ sequence: number }>(({ sequence }) => sequence >= 20);
    return new Map((run.events as { sequence: number; price: string }[]).map(({ sequence, price }) => [sequence, price]));
  };
  const [first, second] = [await prices(), await prices()];
  const common = [...first.keys()].filter((sequence) => second.has(sequence));
  expect(common.length).toBeGreaterThan(5);
  for (const sequence of common) expect(first.get(sequence)).toBe(second.get(sequence));
});

test("a product that the exchange does not have fails the run with the exchange's words", async () => {
  const { url } = await exchange();
  expect(await watch({ url, product: "NO-SUCH" }).finished).toMatchObject({
    outcome: "failed",
    error: { code: "subscription-refused", message: expect.stringContaining("NO-SUCH is not a valid product") },
  });
});

test("it outlives its exchange: with none it tries again and again, and goes on with the next", async () => {
  const first = await exchange();
  const run = watch({ url: first.url, emitTicks: true });
  await run.waitForEvent();
  await first.close();
  await eventually(() => run.logs.filter(({ level }) => level === "warn").length >= 3);
  const seen = run.events.length;
  const second = await exchange(Number(new URL(first.url).port));
  await eventually(() => run.events.length > seen + 3);
  expect(second.subscriptions()).toEqual({ "BTC-USD": 1 });
});

test("over a reconnect the reference is kept, and the price handed out again is no second tick", async () => {
  const { url } = await puppet((socket, connection) => {
    socket.send(ticker("90"));
    socket.send(ticker("100", 1));
    if (connection === 1) return socket.close();
    socket.send(ticker("101", 2));
  });
  const run = watch({ url });
  expect(await run.waitForEvent()).toMatchObject({ price: "101", reference: "100", ticks: 2 });
});

test("a socket that says nothing, not even a pong, is given up and replaced", async () => {
  const { url, connections } = await puppet(() => {});
  const run = watch({ url, silentAfterMs: 200 });
  await eventually(() => connections() >= 3);
  expect(run.logs).toContainEqual(
    expect.objectContaining({ fields: expect.objectContaining({ why: "silent for 200 ms" }) }),
  );
});

test("a quiet market is no dead one: pongs keep the connection", async () => {
  const { url, connections } = await puppet((socket) => {
    socket.send(ticker("100", 1));
    let pings = 0;
    socket.on("ping", (data) => {
      socket.pong(data);
      if (++pings === 3) socket.send(ticker("102", 2));
    });
  });
  const run = watch({ url, silentAfterMs: 8_000 });
  expect(await run.waitForEvent(undefined, { timeoutMs: 60_000 })).toMatchObject({ ticks: 2 });
  expect(connections()).toBe(1);
});

test("rubbish from the exchange is passed over", async () => {
  const { url } = await puppet((socket) => {
    for (const text of ["", "{", "[]", '{"type":"ticker"}', ticker("100", 1), ticker("0", 2), ticker("102", 3)])
      socket.send(text);
  });
  expect(await watch({ url }).waitForEvent()).toMatchObject({ price: "102", ticks: 2 });
});

test("it ends while the exchange is still shaking hands, and when the exchange does not answer a close", async () => {
  const { url } = await puppet((socket) => socket.pause());
  for (const waitFirst of [false, true]) {
    const run = watch({ url, silentAfterMs: 60_000 });
    if (waitFirst) await new Promise((resolve) => setImmediate(resolve));
    expect(await run.stop()).toEqual({ outcome: "stopped" });
  }
});

test("the next run goes on from the same reference, and with resume misses no tick, over a reconnect and a silence too", async () => {
  const server = await exchange();
  const params = {
    url: server.url,
    product: "BTC-USD",
    movePercent: 0.05,
    emitTicks: true,
    resume: true,
    reconnectMaxMs: 100,
  };
  type Tick = { kind: string; sequence: number };
  const ticks = (run: HarnessRun) => (run.events as Tick[]).filter(({ kind }) => kind === "tick");
  const first = watch(params);
  await first.waitForEvent<Tick>(({ kind, sequence }) => kind === "move" && sequence > 20);
  await first.stop();
  const last = ticks(first).at(-1)?.sequence ?? 0;
  expect(first.checkpoints.at(-1)).toMatchObject({ url: server.url, product: "BTC-USD", sequence: last });
  const { reference } = first.checkpoints.at(-1) as { reference: string };
  await eventually(() => expect(Number(server.state().products["BTC-USD"]?.ticks)).toBeGreaterThan(last + 20));

  const second = runObserver(observer, { params, checkpoint: first.checkpoints.at(-1) });
  cleanUps.push(() => second.stop());
  const move = await second.waitForEvent<Tick & { reference: string }>(({ kind }) => kind === "move");
  expect(move.reference).toBe(reference);
  server.fallSilent();
  const heard = ticks(second).at(-1)?.sequence ?? 0;
  await eventually(() => expect(Number(server.state().products["BTC-USD"]?.ticks)).toBeGreaterThan(heard + 20));
  await second.stop();
  const third = runObserver(observer, { params, checkpoint: second.checkpoints.at(-1) });
  cleanUps.push(() => third.stop());
  await third.waitForEvent<Tick>(({ sequence }) => sequence > heard + 20);
  const all = [first, second, third].flatMap(ticks).map(({ sequence }) => sequence);
  expect(all).toEqual(Array.from({ length: all.length }, (_, i) => (all[0] ?? 0) + i));
});

test("an exchange that does not know what was seen last says so, and it goes on with what comes now", async () => {
  const { url } = await exchange();
  const checkpoint = { url, product: "BTC-USD", sequence: 999_999, price: "1", reference: "1" };
  const run = runObserver(observer, {
    params: { url, product: "BTC-USD", movePercent: 1, emitTicks: true, resume: true },
    checkpoint,
  });
  cleanUps.push(() => run.stop());
  expect(await run.waitForEvent()).toEqual({ kind: "gap", product: "BTC-USD", since: 999_999 });
  expect(await run.waitForEvent<{ kind: string }>(({ kind }) => kind === "move")).toMatchObject({ reference: "1" });
  const other = runObserver(observer, { params: { url, product: "ETH-USD", movePercent: 0.01 }, checkpoint });
  cleanUps.push(() => other.stop());
  expect(await other.waitForEvent()).not.toMatchObject({ reference: "1" });
});

test("with resume nothing is saved behind a tick that nobody was told, where a save before it is confirmed after the refusal too", async () => {
  const { url } = await puppet((socket) => {
    socket.send(ticker("100", 1));
    socket.send(ticker("101", 2));
  });
  const definition = observer.under(everythingPermitted);
  if (!("run" in definition) || definition.checkpoint === undefined) throw new Error("the type is not offered");
  const saved: unknown[] = [];
  let confirm = () => {};
  const { context } = createRunContext({
    params: definition.params.parse({ url, product: "BTC-USD", movePercent: 1, emitTicks: true, resume: true }),
    observer: { id: "1", name: "1", type: definition.type, labels: {} },
    runId: "1",
    fencingToken: 1,
    saves: {
      schema: definition.checkpoint,
      everyMs: 0,
      checkpoint: undefined,
      save: (json) => {
        saved.push((JSON.parse(json) as { sequence: number }).sequence);
        return new Promise((resolve) => {
          confirm = resolve;
        });
      },
    },
    stopTimeoutMs: 25_000,
    writeLog: () => {},
    publish: async (json) => {
      const { sequence } = JSON.parse(json) as { sequence: number };
      if (sequence === 2) throw new Error("refused");
    },
  });
  await expect(definition.run(context)).rejects.toThrow("refused");
  expect(saved).toEqual([1]);
  confirm();
  for (let turns = 0; turns < 3; turns += 1) await new Promise((resolve) => setImmediate(resolve));
  expect(saved).toEqual([1]);
});

test("on a slow broker one save is under way, and then the latest", async () => {
  const saved: number[] = [];
  const confirm: (() => void)[] = [];
  const saves = createLatestSave<number>((value) => {
    saved.push(value);
    return new Promise((resolve) => void confirm.push(resolve));
  });
  for (let value = 1; value <= 1_000; value += 1) saves.note(value);
  expect(saved).toEqual([1]);
  confirm[0]?.();
  await eventually(() => expect(saved).toEqual([1, 1_000]));
  saves.note(1_001);
  saves.flush();
  expect(saved).toEqual([1, 1_000, 1_001]);
});
