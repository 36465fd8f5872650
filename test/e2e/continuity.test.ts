import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { ObserverView } from "@unacked/contracts";
import { type RunningExchange, startExchange } from "@unacked/demo";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type OutputTap, tapOutput } from "../support/acts/output-tap.ts";
import { eventually } from "../support/eventually.ts";
import { proves } from "../support/runs/counts.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { freshSystem, type System } from "../support/system/system.ts";

const LONG_MS = 60_000;
const KILLS = proves("checkpoints") ? 20 : 4;

/** Counts lines from its checkpoint file on, and saves each number there. */
const COUNTING = `
n=$(cat "$UNACKED_CHECKPOINT_FILE" 2>/dev/null || echo 0)
while sleep 0.05; do
  n=$((n + 1))
  echo "$n $UNACKED_FENCING_TOKEN"
  echo "$n" >"$UNACKED_CHECKPOINT_FILE.new" && mv "$UNACKED_CHECKPOINT_FILE.new" "$UNACKED_CHECKPOINT_FILE"
done`;

type Emitted = { kind?: string; product?: string; sequence?: number; line?: string; status?: number; reference?: string };

describe("the types that are shipped", () => {
  let system: System;
  let exchange: RunningExchange;
  let tap: OutputTap<Emitted>;

  beforeAll(async () => {
    system = await freshSystem();
    exchange = await startExchange({ tickMs: 20 });
    tap = await tapOutput<Emitted>(system.env.AMQP_URL ?? "", "#");
    await system.startManager();
    await serve("service-1");
    await serve("service-2");
  }, 240_000);
  afterAll(async () => {
    await tap.close();
    await exchange.close();
    await system.close();
  });

  const serve = (name: string) =>
    system.startService(name, {
      env: {
        OBSERVERS_DIR: "observers",
        ALLOW_PRIVATE_ADDRESSES: "true",
        ALLOW_PROCESS_OBSERVERS: "true",
        PROCESS_COMMANDS: "sh",
      },
    });
  const create = async (name: string, type: string, params: object): Promise<string> => {
    const body = { name, type, params, whenFull: "queue" };
    const { status, body: view } = await system.call<ObserverView>("POST", "/api/v1/observers", body);
    expect(status, JSON.stringify(view)).toBe(201);
    await system.untilStatus([view.id], "Processing", LONG_MS);
    return view.id;
  };
  const eventsOf = (name: string) => tap.messages.filter((one) => one.name === name).map(({ event }) => event);
  const sequencesOf = (name: string) =>
    eventsOf(name).flatMap(({ kind, sequence }) => (kind === "tick" ? [sequence ?? 0] : []));
  const untilMore = (what: () => number, more: number) => {
    const wanted = what() + more;
    return eventually(() => expect(what()).toBeGreaterThanOrEqual(wanted), { timeoutMs: LONG_MS, what: `${more} more` });
  };
  const gapsIn = (numbers: readonly number[]): number[] => {
    const seen = new Set(numbers);
    const missing: number[] = [];
    for (let n = Math.min(...numbers); n < Math.max(...numbers); n += 1) if (!seen.has(n)) missing.push(n);
    return missing;
  };
  /** With -9, and started again. @returns where it was */
  const killServiceOf = async (id: string): Promise<void> => {
    const { service, runNumber } = await system.get(id);
    const name = service?.name ?? "";
    await system.service(name).kill("SIGKILL");
    await eventually(
      async () => expect(await system.get(id)).toMatchObject({ status: "Processing", runNumber: runNumber + 1 }),
      {
        timeoutMs: LONG_MS,
        what: "its next run",
      },
    );
    await serve(name);
  };

  it.runIf(isTurnOf(2))(
    "price-watch goes on from the tick that it has seen last: over kills -9 no sequence is missing that the exchange sent",
    async () => {
      const name = "continued";
      const params = { url: exchange.url, product: "BTC-USD", movePercent: 0.05, emitTicks: true, resume: true };
      const id = await create(name, "price-watch", params);
      for (let kill = 0; kill < KILLS; kill += 1) {
        await untilMore(() => sequencesOf(name).length, 30);
        await killServiceOf(id);
      }
      await untilMore(() => sequencesOf(name).length, 30);
      const sequences = sequencesOf(name);
      expect(gapsIn(sequences)).toEqual([]);
      expect(eventsOf(name).filter(({ kind }) => kind === "gap")).toEqual([]);
      // What came out since the last save comes out again, and nothing else.
      const twice = sequences.length - new Set(sequences).size;
      console.info(`${KILLS} kills: ${sequences.length} ticks, none missing, ${twice} of them again`);
      await eventually(async () => {
        const { body } = await system.call<{ value: { sequence: number } }>("GET", `/api/v1/observers/${id}/checkpoint`);
        expect(body.value.sequence).toBeGreaterThan(sequences[0] ?? 0);
      });
    },
    240_000,
  );

  it.runIf(isTurnOf(0))(
    "http-poll asks with the ETag of the run before, and emits nothing where nothing has changed",
    async () => {
      const asked: (string | undefined)[] = [];
      const server = createServer((request, response) => {
        asked.push(request.headers["if-none-match"]);
        if (request.headers["if-none-match"] === '"v1"') return response.writeHead(304).end();
        return response.writeHead(200, { etag: '"v1"', "content-type": "application/json" }).end('{"price":1}');
      });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
      const id = await create("polled", "http-poll", { url, everyMs: 200, pointer: "/price" });
      const saved = async () =>
        (await system.call<{ number: number }>("GET", `/api/v1/observers/${id}/checkpoint`)).body.number;
      await eventually(async () => expect(await saved()).toBeGreaterThan(0), { timeoutMs: LONG_MS });
      await killServiceOf(id);
      await untilMore(() => asked.length, 3);
      expect(asked.filter((etag) => etag === undefined)).toHaveLength(1);
      expect(eventsOf("polled")).toHaveLength(1);
      await system.remove(id);
      server.close();
    },
    240_000,
  );

  it.runIf(isTurnOf(1))(
    "process gives its command a token that rises, and the file that the run before has written",
    async () => {
      const id = await create("counted", "process", { command: "sh", args: ["-c", COUNTING] });
      const lines = () => eventsOf("counted").map(({ line = "" }) => line.split(" ").map(Number) as [number, number]);
      for (let kill = 0; kill < KILLS; kill += 1) {
        // Until some of it is saved: four looks a second, one save a second.
        await untilMore(() => lines().length, 60);
        await killServiceOf(id);
      }
      await untilMore(() => lines().length, 10);
      expect(gapsIn(lines().map(([n]) => n))).toEqual([]);
      const tokens = [...new Set(lines().map(([, fencingToken]) => fencingToken))];
      expect(tokens).toHaveLength(KILLS + 1);
      expect(tokens).toEqual(tokens.toSorted((a, b) => a - b));
      const again = lines().length - new Set(lines().map(([n]) => n)).size;
      console.info(`${KILLS} kills: ${lines().length} lines, none missing, ${again} of them again`);
      // It went on from what was saved, and not from the beginning.
      for (const fencingToken of tokens.slice(1))
        expect(lines().find((one) => one[1] === fencingToken)?.[0]).toBeGreaterThan(1);
      await system.remove(id);
    },
    240_000,
  );
});
