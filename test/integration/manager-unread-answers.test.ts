import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { type HttpManager, startHttpManager } from "../support/rest/http-manager.ts";
import { useBooks } from "../support/servers/books.ts";

/* Clients without a token that ask, and do not read. */

const GET = "GET /api/openapi.json HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
const STALLED_MS = 1_000;

const books = useBooks();

const start = (bounds: Parameters<typeof startHttpManager>[4]) =>
  startHttpManager(books.databaseUrl, undefined, undefined, undefined, bounds);

/** Reads nothing by itself. */
async function connection({ url }: HttpManager): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), "127.0.0.1").pause();
  socket.on("error", () => undefined);
  onTestFinished(() => void socket.destroy());
  await once(socket, "connect");
  return socket;
}

const heldMb = (): number => {
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 2 ** 20;
};

const openSockets = (): number => process.getActiveResourcesInfo().filter((name) => name === "TCPSocketWrap").length;

test("Hundreds of unread answers take the memory of one, and their connections are closed", async () => {
  const manager = await start({ stalledMs: STALLED_MS });
  const { text } = await manager.call("GET", "/api/openapi.json");
  const beforeMb = heldMb();
  const before = openSockets();
  const sockets = await Promise.all(Array.from({ length: 200 }, () => connection(manager)));
  let begun = 0;
  for (const socket of sockets) socket.once("readable", () => (begun += 1)).write(GET.repeat(30));
  await eventually(() => expect(begun).toBe(sockets.length));
  const tookMb = heldMb() - beforeMb;
  console.log(`200 connections, each with 30 unread answers of ${text.length} bytes: ${tookMb.toFixed(0)} MiB`);
  expect(tookMb).toBeLessThan(100);
  // Of each the client's end is left, which does not look.
  await eventually(() => expect(openSockets()).toBeLessThanOrEqual(before + sockets.length), { timeoutMs: 30_000 });
});

test("Who reads slowly has it all in the end, though it takes many times as long", async () => {
  const manager = await start({ stalledMs: STALLED_MS });
  const { text } = await manager.call("GET", "/api/openapi.json");
  const socket = await connection(manager);
  const count = 30;
  socket.write(GET.repeat(count));
  const beganMs = performance.now();
  let read = 0;
  while (read < count * Buffer.byteLength(text)) {
    const part = socket.read() as Buffer | null;
    read += part?.length ?? 0;
    if (part === null) await Promise.race([once(socket, "readable"), once(socket, "close")]);
    expect(socket.destroyed, `after ${read} bytes`).toBe(false);
    await sleep(10); // slowly
  }
  expect(performance.now() - beganMs).toBeGreaterThan(2 * STALLED_MS);
});

test("What is more than so many connections is closed at once, and those that are there go on", async () => {
  const manager = await start({ maxConnections: 2 });
  const [first] = [await connection(manager), await connection(manager)];
  const third = await connection(manager);
  if (!third.destroyed) await once(third.resume(), "close");
  first.resume().write("GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
  const [answer] = await once(first, "data");
  expect(String(answer)).toMatch(/^HTTP\/1.1 200/);
});
