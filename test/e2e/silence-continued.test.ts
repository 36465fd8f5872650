import type { ObserverView } from "@unacked/contracts";
import { parseRecording, type RecordedTicker, type RunningExchange, readRecording, startExchange } from "@unacked/demo";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type OutputTap, tapOutput } from "../support/acts/output-tap.ts";
import { eventually } from "../support/eventually.ts";
import { hasRecording, RECORDING_FILE } from "../support/messages/recorded-ticks.ts";
import { proves } from "../support/runs/counts.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { freshSystem, type System } from "../support/system/system.ts";

const LONG_MS = 90_000;
/** Those of the recording that have a tick every few seconds. */
const PRODUCTS = ["SKL-USD", "DASH-BTC", "BAND-BTC", "NMR-EUR", "SKL-BTC"];
const SPEED = proves("silence") ? 1 : 2;
const SILENCE = { warnAfterMs: 2_000, restartAfterMs: 5_000 };

/** As long as the recording, where that is not at hand: a tick of each product every half second. */
function made(): RecordedTicker[] {
  console.warn(`${RECORDING_FILE} is not here: the test makes its own traffic`);
  const lines = PRODUCTS.flatMap((product, of) =>
    Array.from({ length: 60 }, (_, i) => {
      const [seconds, sequence] = [100 + i / 2 + of / 20, 1_000 * (of + 1) + 3 * i];
      const ticker = { type: "ticker", product_id: product, price: String(100 + (i % 7)), sequence, trade_id: sequence };
      return { seconds, line: `${seconds}: ${JSON.stringify(ticker)}` };
    }),
  );
  return parseRecording(
    lines
      .toSorted((a, b) => a.seconds - b.seconds)
      .map(({ line }) => line)
      .join("\n"),
  );
}

describe.runIf(isTurnOf(0))("a feed of recorded traffic that falls silent without closing", () => {
  let system: System;
  let exchange: RunningExchange;
  let tap: OutputTap<{ kind: string; sequence: number; product: string }>;
  let recorded: RecordedTicker[];

  beforeAll(async () => {
    recorded = (hasRecording ? await readRecording(RECORDING_FILE) : made()).filter(({ product }) =>
      PRODUCTS.includes(product),
    );
    system = await freshSystem();
    exchange = await startExchange({ recording: recorded, speed: SPEED, waitForSubscriptions: PRODUCTS.length });
    tap = await tapOutput(system.env.AMQP_URL ?? "", "price-watch.#");
    await system.startManager();
    for (const name of ["service-1", "service-2"])
      await system.startService(name, { env: { OBSERVERS_DIR: "observers", ALLOW_PRIVATE_ADDRESSES: "true" } });
  }, 240_000);
  afterAll(async () => {
    await tap.close();
    await exchange.close();
    await system.close();
  });

  const ticksOf = (product: string): number[] =>
    tap.messages.flatMap(({ event }) => (event.kind === "tick" && event.product === product ? [event.sequence] : []));
  const sentOf = (product: string): number[] =>
    recorded.flatMap((tick) => (tick.product === product ? [tick.sequence] : []));
  const silentNow = async () => (await system.listObservers("&silent=true")).map(({ name }) => name);

  it("is warned of, restarted, subscribed again and continued from its checkpoint: no sequence is missing that the exchange sent", async () => {
    const ids: string[] = [];
    for (const product of PRODUCTS) {
      const params = { url: exchange.url, product, movePercent: 0.1, emitTicks: true, resume: true };
      const body = { name: product, type: "price-watch", params, silence: SILENCE, retry: { delaysMs: [200] } };
      const answer = await system.call<ObserverView>("POST", "/api/v1/observers", body);
      expect(answer.status, JSON.stringify(answer.body)).toBe(201);
      ids.push(answer.body.id);
    }
    await eventually(() => expect(PRODUCTS.filter((product) => ticksOf(product).length === 0)).toEqual([]), {
      timeoutMs: LONG_MS,
      what: "a tick of each",
    });
    exchange.fallSilent();
    const atMs = performance.now();
    const before = new Map(PRODUCTS.map((product) => [product, ticksOf(product).length]));
    await eventually(async () => expect(await silentNow()).toContain("SKL-USD"), {
      timeoutMs: LONG_MS,
      what: "the warning",
    });
    const warnedMs = performance.now() - atMs;
    expect((await system.stats()).warnings.map(({ code }) => code)).toContain("observers-silent");
    await eventually(
      async () => {
        for (const one of await system.observers(ids))
          expect(one).toMatchObject({ lastError: { name: "SilentError" }, status: "Processing" });
      },
      { timeoutMs: LONG_MS, what: "that each has been restarted" },
    );
    await eventually(
      () => {
        for (const product of PRODUCTS) expect(new Set(ticksOf(product)), product).toEqual(new Set(sentOf(product)));
      },
      { timeoutMs: LONG_MS, what: "every tick that the exchange sent" },
    );
    expect(exchange.state().replay).toMatchObject({ state: "ended", number: 1 });
    const missed = PRODUCTS.map((product) => sentOf(product).length - (before.get(product) ?? 0));
    const again = PRODUCTS.reduce((sum, product) => sum + ticksOf(product).length - sentOf(product).length, 0);
    console.info(
      `${recorded.length} recorded ticks at ${SPEED} times their speed: warned of ${Math.round(warnedMs)} ms after the silence (limit ${SILENCE.warnAfterMs}); ${missed.reduce((a, b) => a + b)} came after it, none is missing, ${again} came again`,
    );
    expect(tap.messages.filter(({ event }) => event.kind === "gap")).toEqual([]);
    for (const id of ids) await system.remove(id);
    await system.check({ timeoutMs: LONG_MS });
  }, 240_000);
});
