import { once } from "node:events";
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { type Permissions, runObserver } from "@unacked/sdk";
import { Agent, buildConnector } from "undici";
import { describe, expect, onTestFinished, test } from "vitest";
import { get } from "../../observers/http-poll/get.ts";
import { connectPublic } from "../../observers/http-poll/public-agent.ts";
import httpPoll from "../../observers/http-poll.ts";
import priceWatch from "../../observers/price-watch.ts";
import { tapOutput } from "../support/acts/output-tap.ts";
import { eventually } from "../support/eventually.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { temporaryFolder } from "../support/servers/servers.ts";
import { standIn, startObserverService } from "../support/system/observer-service.ts";

const NOTHING: Permissions = { commands: [], variables: [], privateAddresses: false };

/** A real server on loopback that counts connections. */
async function innerServer(redirectTo?: string) {
  let connections = 0;
  const server = createServer((_, response) => {
    if (redirectTo === undefined) return response.end("inner");
    response.writeHead(302, { location: redirectTo }).end();
  });
  server.on("connection", () => connections++);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, connections: () => connections };
}

/** `public.test` stands for a server on the internet; every other host goes through the guard. */
function agentWithPublicServer(port: number): Agent {
  const toServer = buildConnector({});
  const agent = new Agent({
    connect(options, callback) {
      if (options.hostname !== "public.test") return connectPublic(options, callback);
      toServer({ ...options, hostname: "127.0.0.1", port: String(port) }, callback);
    },
  });
  onTestFinished(() => agent.destroy());
  return agent;
}

const asked = { headers: {}, before: undefined, pointer: undefined, timeoutMs: 5_000, signal: new AbortController().signal };

describe("http-poll where private addresses are not permitted", () => {
  test.each(["127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "2130706433", "0177.0.0.1"])(
    "fails by %s with what would be right, and connects to nobody",
    async (host) => {
      const { port, connections } = await innerServer();
      const run = runObserver(httpPoll, { params: { url: `http://${host}:${port}/` }, permissions: NOTHING });
      expect(await run.finished).toMatchObject({
        outcome: "failed",
        error: {
          code: "address-refused",
          message: expect.stringMatching(/not a public address \(loopback\).*ALLOW_PRIVATE/),
        },
      });
      expect(run.events).toEqual([]);
      expect(connections()).toBe(0);
    },
  );

  test("follows a public server, but not its redirect to an inner one, by address or by name", async () => {
    const inner = await innerServer();
    for (const target of [`http://127.0.0.1:${inner.port}/`, `http://localhost:${inner.port}/`]) {
      const outer = await innerServer(target);
      const agent = agentWithPublicServer(outer.port);
      await expect(get({ ...asked, url: "http://public.test/", agent })).rejects.toMatchObject({ code: "address-refused" });
      expect(outer.connections()).toBe(1);
    }
    expect(inner.connections()).toBe(0);
  });

  test("answers as ever for a public server", async () => {
    const outer = await innerServer();
    expect(await get({ ...asked, url: "http://public.test/", agent: agentWithPublicServer(outer.port) })).toEqual({
      look: { status: 200 },
    });
  });
});

test.each(["127.0.0.1", "localhost"])(
  "price-watch where private addresses are not permitted fails by %s, and connects to nobody",
  async (host) => {
    const { port, connections } = await innerServer();
    const params = { url: `ws://${host}:${port}`, product: "BTC-USD", movePercent: 1 };
    expect(await runObserver(priceWatch, { params, permissions: NOTHING }).finished).toMatchObject({
      outcome: "failed",
      error: { code: "address-refused" },
    });
    expect(connections()).toBe(0);
  },
);

/** A service with the types that are shipped, and a stand-in for its manager. */
async function shipped(env: Record<string, string> = {}) {
  const manager = await standIn();
  const service = startObserverService(manager.amqpUrl, { env: { OBSERVERS_DIR: "observers", ...env } });
  onTestFinished(async () => {
    await service.kill();
    await manager.close();
  });
  const { types } = await manager.waitFor("ServiceBorn");
  return { manager, service, types };
}

describe("a service that nobody permitted anything", () => {
  test.runIf(isTurnOf(2))("has no process observers, says why, and lets a start of one go", async () => {
    const { manager, service, types } = await shipped();
    expect(types.map(({ type }) => type)).toEqual(["http-poll", "price-watch", "ticker"]);
    expect(await service.waitForEvent("type-not-offered")).toMatchObject({
      file: expect.stringMatching(/observers\/process\.ts$/),
      msg: expect.stringContaining("ALLOW_PROCESS_OBSERVERS"),
    });
    const { observerId } = await manager.start({ type: "process", params: { command: "env" } });
    expect(await manager.waitFor("StartRefused")).toMatchObject({ observerId, reason: "unknown-type" });
  });

  test.runIf(isTurnOf(0))("reaches nobody on its own machine, and tells the books why", async () => {
    const { manager } = await shipped();
    const { port, connections } = await innerServer();
    await manager.start({ type: "http-poll", params: { url: `http://localhost:${port}/` } });
    const { error } = await manager.waitFor("RunRetrying");
    expect(error).toMatchObject({ name: "AddressRefused", message: expect.stringContaining("ALLOW_PRIVATE_ADDRESSES") });
    expect(connections()).toBe(0);
  });
});

describe("a service that permits some commands", () => {
  const env = { ALLOW_PROCESS_OBSERVERS: "true", PROCESS_COMMANDS: "env,sleep,bash", PROCESS_ENV: "WORD" };

  test.runIf(isTurnOf(1))(
    "announces which, runs these with nothing of its own environment but what is harmless, and no others",
    async () => {
      const { manager, types } = await shipped(env);
      const announced = types.find(({ type }) => type === "process")?.paramsSchema;
      expect(announced).toMatchObject({ properties: { command: { enum: ["env", "sleep", "bash"] } } });

      const tap = await tapOutput<{ line: string }>(manager.amqpUrl, "process.#");
      onTestFinished(() => tap.close());
      const allowed = await manager.start({ type: "process", params: { command: "env", env: { WORD: "here" } } });
      await manager.waitFor("RunCompleted", ({ observerId }) => observerId === allowed.observerId);
      const printed = await eventually(() => {
        const names = tap.messages.map(({ event }) => event.line.split("=", 1)[0]);
        expect(names).toEqual(expect.arrayContaining(["PATH", "UNACKED_RUN_ID", "WORD"]));
        return names;
      });
      const harmless =
        /^(PATH|HOME|USER|LANG|LC_ALL|TZ|TMPDIR|WORD|UNACKED_(OBSERVER_ID|OBSERVER_NAME|RUN_ID|FENCING_TOKEN|CHECKPOINT_FILE))$/;
      expect(printed.filter((name) => !harmless.test(name ?? ""))).toEqual([]);

      const refused = await manager.start({ type: "process", params: { command: "sh", args: ["-c", "echo no"] } });
      expect(await manager.waitFor("RunFailed")).toMatchObject({
        observerId: refused.observerId,
        error: { message: expect.stringContaining("this service runs only env, sleep, bash (PROCESS_COMMANDS)") },
      });
    },
  );

  test.runIf(isTurnOf(0))("sets no variable that is not named: none by which a command runs another", async () => {
    const { manager } = await shipped(env);
    const proof = join(temporaryFolder("proof"), "ran");
    const params = { command: "bash", args: ["-c", "true"], env: { SHELLOPTS: "xtrace", PS4: `$(touch ${proof})` } };
    const { observerId } = await manager.start({ type: "process", params });
    const message = expect.stringContaining("this service lets params set only WORD (PROCESS_ENV)");
    expect(await manager.waitFor("RunFailed")).toMatchObject({ observerId, error: { name: "InvalidParams", message } });
    expect(existsSync(proof)).toBe(false);
  });
});
