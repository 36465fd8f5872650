import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { text } from "node:stream/consumers";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, onTestFinished, test } from "vitest";
import { oneAtATime } from "../../../services/observer-manager/src/adapters/http/server/one-at-a-time.ts";
import { eventually } from "../../support/eventually.ts";

async function serve() {
  const begun: ServerResponse[] = [];
  const server = createServer(oneAtATime((_request, response) => void begun.push(response)));
  onTestFinished(() => void server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  const client = connect((server.address() as AddressInfo).port, "127.0.0.1");
  client.on("error", () => undefined);
  onTestFinished(() => void client.destroy());
  return { begun, client };
}

const get = (path: number, more = "") => `GET /${path} HTTP/1.1\r\nHost: here\r\n${more}\r\n`;

test("What is sent ahead is begun when what came before it is answered, in its order", async () => {
  const { begun, client } = await serve();
  const [all, count] = [text(client), 50];
  client.write(Array.from({ length: count }, (_, i) => get(i, i === count - 1 ? "Connection: close\r\n" : "")).join(""));
  for (let i = 0; i < count; i += 1) {
    await eventually(() => expect(begun).toHaveLength(i + 1));
    begun[i]?.end(`<${begun[i]?.req.url}>`);
  }
  const expected = Array.from({ length: count }, (_, i) => `</${i}>`);
  expect((await all).match(/<[^>]*>/g)).toEqual(expected);
});

test("Who sends very many ahead is cut off, and none of them is begun any more", async () => {
  const { begun, client } = await serve();
  client.write(get(0).repeat(1_000));
  client.resume();
  await once(client, "close");
  expect(begun).toHaveLength(1);
  expect(begun[0]?.req.socket.destroyed).toBe(true);
});

test("A connection at rest keeps nothing of the request that was answered", async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const { begun, client } = await serve();
  client.write(get(0));
  client.resume();
  await eventually(() => expect(begun).toHaveLength(1));
  const kept = new WeakRef((begun.pop() as ServerResponse).end());
  await eventually(() => {
    collect();
    expect(kept.deref() === undefined, "it is collected").toBe(true); // of the response itself, the error would keep it
  });
  expect(client.destroyed).toBe(false);
});
