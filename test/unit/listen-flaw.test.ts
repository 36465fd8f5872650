import { once } from "node:events";
import { createServer } from "node:net";
import { listenFlaw } from "@unacked/settings";
import { expect, onTestFinished, test } from "vitest";

const listening = async (port: number, host = "127.0.0.1") => {
  const server = createServer();
  onTestFinished(() => void server.close());
  server.listen(port, host);
  await once(server, "listening");
  return (server.address() as { port: number }).port;
};

const errorOf = (work: Promise<unknown>) => work.then(() => undefined).catch((error: unknown) => error);

test("A port that is taken is named, with what to set", async () => {
  const port = await listening(0);
  expect(listenFlaw(await errorOf(listening(port)))).toBe(
    `another program listens at 127.0.0.1:${port} already (EADDRINUSE): set PORT to another one, or to 0 for any that is free`,
  );
});

test("An address that this machine has not is named, with what to set", async () => {
  expect(listenFlaw(await errorOf(listening(0, "203.0.113.9")))).toMatch(
    /^203\.0\.113\.9 is not an address of this machine .* set HOST/,
  );
});

test("Other errors are none of listening", () => {
  for (const error of [new Error("no"), "no", Object.assign(new Error("no"), { syscall: "connect" })])
    expect(listenFlaw(error)).toBeUndefined();
});
