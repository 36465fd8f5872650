import { setTimeout as sleep } from "node:timers/promises";
import { SupervisedConnection } from "@unacked/broker";
import { expect, test } from "vitest";
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
