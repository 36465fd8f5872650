import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type OutputTap, tapOutput } from "../support/acts/output-tap.ts";
import { eventually } from "../support/eventually.ts";
import {
  hasRecording,
  movesOf,
  RECORDED_COUNTS,
  RECORDING_FILE,
  type RecordedTick,
  readRecordedTicks,
} from "../support/messages/recorded-ticks.ts";
import { startProcess } from "../support/processes/processes.ts";
import { freshSystem, type System } from "../support/system/system.ts";

/** 1 ‰ is 0.1 %: seventeen moves in the recording. */
const MOVE_PERMILLE = 1;
const products = Object.keys(RECORDED_COUNTS);

type Emitted =
  | { kind: "tick"; product: string; price: string; sequence: number }
  | { kind: "move"; product: string; price: string; reference: string; sequence: number };

interface ExchangeState {
  replay: { state: string; number: number; sent: number; total: number };
  products: Record<
    string,
    { connections: number; maxConnections: number; ticks: number; ticksToNobody: number; ticksToSeveral: number }
  >;
}

describe.skipIf(!hasRecording)("ten price-watch observers on a replayed recording", () => {
  const recorded = hasRecording ? readRecordedTicks() : [];
  const ticksOf = (product: string): RecordedTick[] => recorded.filter((tick) => tick.product === product);
  let system: System;
  let tap: OutputTap<Emitted>;
  let exchangeUrl: string;
  let ids: string[];

  beforeAll(async () => {
    system = await freshSystem();
    const exchange = startProcess({
      name: "exchange",
      file: "demo/dist/exchange.js",
      args: ["--recording", RECORDING_FILE, "--speed", "30", "--wait-for-subscriptions", String(products.length)],
    });
    exchangeUrl = String((await exchange.waitForEvent("listening")).url);
    tap = await tapOutput<Emitted>(system.env.AMQP_URL ?? "", "price-watch.#");
    await system.startManager();
    const env = { OBSERVERS_DIR: "observers", ALLOW_PRIVATE_ADDRESSES: "true" };
    await Promise.all([system.startService("service-1", { env }), system.startService("service-2", { env })]);
    return async () => {
      await exchange.kill("SIGTERM");
    };
  });
  afterAll(async () => {
    await tap.close();
    await system.close();
  });

  const exchangeState = async () =>
    (await (await fetch(`${exchangeUrl.replace("ws:", "http:")}/state`)).json()) as ExchangeState;

  const untilReplayEnded = (number: number) =>
    eventually(async () => expect((await exchangeState()).replay).toMatchObject({ number, state: "ended" }), {
      what: `the end of replay ${number}`,
      timeoutMs: 20_000,
    });

  const emitted = (kind: Emitted["kind"], product: string) =>
    tap.messages.filter(({ event }) => event.kind === kind && event.product === product);
  const sequences = (product: string) => emitted("tick", product).map(({ event }) => event.sequence);
  const moves = (product: string) =>
    emitted("move", product).map(({ event }) => {
      const { reference, price, sequence } = event as Extract<Emitted, { kind: "move" }>;
      return { reference, price, sequence };
    });

  it("the file holds what its description says, and moves enough to tell right from wrong", () => {
    expect(Object.fromEntries(products.map((product) => [product, ticksOf(product).length]))).toEqual(RECORDED_COUNTS);
    expect(products.flatMap((product) => movesOf(ticksOf(product), MOVE_PERMILLE))).toHaveLength(17);
  });

  it("see exactly the recorded ticks and emit exactly the moves of the file, 30 times faster than life", async () => {
    ids = [];
    for (const product of products) {
      const params = { url: exchangeUrl, product, movePercent: MOVE_PERMILLE / 10, emitTicks: true };
      const { status, body } = await system.call<{ id: string }>("POST", "/api/v1/observers", {
        name: `watch-${product}`,
        type: "price-watch",
        params,
      });
      expect(status, JSON.stringify(body)).toBe(201);
      ids.push(body.id);
    }
    await system.untilStatus(ids, "Processing");
    await untilReplayEnded(1);
    await eventually(() => expect(tap.messages.filter(({ event }) => event.kind === "tick")).toHaveLength(recorded.length));
    for (const product of products) {
      expect(sequences(product), product).toEqual(ticksOf(product).map(({ sequence }) => sequence));
      await eventually(() => expect(moves(product), product).toEqual(movesOf(ticksOf(product), MOVE_PERMILLE)));
    }
    const { products: state } = await exchangeState();
    for (const product of products) {
      expect(state[product], product).toMatchObject({ maxConnections: 1, ticksToNobody: 0, ticksToSeveral: 0 });
    }
    await system.check();
  });

  it("are all subscribed again after a kill -9 in the middle of a second replay, and no tick is seen by two runs", async () => {
    tap.messages.splice(0);
    const before = new Map((await system.observers(ids)).map((one) => [one.name.replace("watch-", ""), one]));
    // The service of the busiest product, so that its next run has ticks to see; twice as fast, so that it is there in time.
    const victim = before.get("SKL-USD")?.service?.name ?? "";
    const orphans = products.filter((product) => before.get(product)?.service?.name === victim);
    const neighbours = products.filter((product) => !orphans.includes(product));
    expect(neighbours.length).toBeGreaterThan(0);

    await fetch(`${exchangeUrl.replace("ws:", "http:")}/replay?speed=2`, { method: "POST" });
    await eventually(async () => expect((await exchangeState()).replay.sent).toBeGreaterThan(recorded.length / 3));
    await system.service(victim).kill("SIGKILL");
    const killedAtMs = performance.now();
    await eventually(async () => {
      const { products: state, replay } = await exchangeState();
      expect(products.filter((product) => state[product]?.connections !== 1)).toEqual([]);
      expect(replay.state, "the middle of the replay").toBe("running");
    });
    console.log(`all ten subscribed again ${Math.round(performance.now() - killedAtMs)} ms after the kill -9`);
    await untilReplayEnded(2);

    const { products: state } = await exchangeState();
    for (const product of products) {
      expect(state[product], product).toMatchObject({ connections: 1, ticksToSeveral: 0 });
      // A service that is killed leaves its slots some milliseconds (docs/isolation.md): two may be connected, for less than a tick.
      expect(state[product]?.maxConnections, product).toBeLessThanOrEqual(neighbours.includes(product) ? 1 : 2);
    }
    for (const product of neighbours) {
      await eventually(() => expect(sequences(product), product).toEqual(ticksOf(product).map(({ sequence }) => sequence)));
      // The same run went on, so its reference price did too: it read the file twice.
      const twice = movesOf([...ticksOf(product), ...ticksOf(product)], MOVE_PERMILLE);
      await eventually(() =>
        expect(moves(product), product).toEqual(twice.slice(movesOf(ticksOf(product), MOVE_PERMILLE).length)),
      );
    }
    await system.untilStatus(ids, "Processing");
    const after = await system.observers(ids);
    for (const product of orphans) {
      const current = after.find(({ name }) => name === `watch-${product}`);
      const runs = emitted("tick", product).map(({ runId }) => runId);
      expect(new Set(sequences(product)).size, `${product}: no tick twice`).toBe(runs.length);
      expect([before.get(product)?.currentRunId, current?.currentRunId], product).toEqual(expect.arrayContaining(runs));
      expect(
        runs.lastIndexOf(String(before.get(product)?.currentRunId)),
        `${product}: one run after the other`,
      ).toBeLessThan(
        runs.includes(String(current?.currentRunId)) ? runs.indexOf(String(current?.currentRunId)) : runs.length,
      );
      expect(sequences(product), `${product}: in order`).toEqual([...sequences(product)].sort((a, b) => a - b));
    }
    const newRun = after.find(({ name }) => name === "watch-SKL-USD")?.currentRunId;
    expect(
      emitted("tick", "SKL-USD").filter(({ runId }) => runId === newRun).length,
      "ticks of the new run",
    ).toBeGreaterThan(0);
    await system.check();
  });
});
