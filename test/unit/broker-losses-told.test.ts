import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { SupervisedConnection } from "@unacked/broker";
import { expect, test, vi } from "vitest";
import { eventually } from "../support/eventually.ts";
import { keptLog } from "../support/servers/books.ts";

test("nodes that are all away are told of, each once, and then now and then, though each has an error of its own", async () => {
  const log = keptLog();
  const url = "amqp://guest@127.0.0.1:1,amqp://guest@127.0.0.1:2";
  const reconnect = { initialMs: 1, maxMs: 1, resetAfterMs: 10_000 };
  const connection = new SupervisedConnection(
    { url, connectionName: "test", heartbeatS: 10, reconnect, log },
    { build: () => sleep(0) },
  );
  connection.start();
  const counts = () => log.lines.map(({ fields }) => (fields as { failures: number }).failures);
  await eventually(() => expect(counts().at(-1)).toBeGreaterThanOrEqual(64));
  await connection.close();
  expect(counts()).toEqual([1, 2, 4, 8, 16, 32, 64]);
  expect(JSON.stringify(log.lines.slice(0, 2))).toMatch(
    /127\.0\.0\.1:1\b.*127\.0\.0\.1:2\b|127\.0\.0\.1:2\b.*127\.0\.0\.1:1\b/,
  );
});

test("a cause that comes back after another one is told within a minute", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  const node = createServer((socket) => socket.destroy());
  node.listen(0, "127.0.0.1");
  await once(node, "listening");
  const { port } = node.address() as AddressInfo;
  node.close();
  const log = keptLog();
  const reconnect = { initialMs: 1, maxMs: 1, resetAfterMs: 10_000 };
  const url = `amqp://guest@127.0.0.1:${port}`;
  const connection = new SupervisedConnection(
    { url, connectionName: "test", heartbeatS: 10, reconnect, log },
    { build: () => sleep(0) },
  );
  const told = () => log.lines.map(({ fields }) => fields as { detail: string; failures: number });
  const isAway = ({ detail }: { detail: string }): boolean => detail.includes("ECONNREFUSED");
  const other = () => told().findIndex((cause) => !isAway(cause));
  connection.start();
  await vi.waitFor(() => expect(told().filter(isAway).length).toBeGreaterThan(2), { timeout: 20_000 });
  node.listen(port, "127.0.0.1");
  await vi.waitFor(() => expect(other()).toBeGreaterThan(0), { timeout: 20_000 });
  node.close();
  // Beside those of the 1st, 2nd, 4th, 8th … time.
  const isBetween = ({ failures }: { failures: number }): boolean => !Number.isInteger(Math.log2(failures));
  const toldAgain = () => told().slice(other()).filter(isAway).some(isBetween);
  const inAMinute = (): void => {
    vi.advanceTimersByTime(60_000);
    expect(toldAgain()).toBe(true);
  };
  try {
    await vi.waitFor(inAMinute, { timeout: 20_000 });
  } finally {
    await connection.close();
    vi.useRealTimers();
  }
});
