import { once } from "node:events";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Request, Response } from "express";
import { expect, onTestFinished, test, vi } from "vitest";
import { eventStream } from "../../../services/observer-manager/src/adapters/http/server/change-events.ts";
import { sendEventStream } from "../../../services/observer-manager/src/adapters/http/server/server-sent-events.ts";

/** What is answered by `answer` to somebody who has gone by then, as while it was looked up who asks. */
async function answeredTooLate(answer: (request: Request, response: Response) => unknown): Promise<void> {
  const timers = vi.spyOn(globalThis, "setInterval");
  onTestFinished(() => timers.mockRestore());
  const server = createServer();
  onTestFinished(() => void server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  const client = request({ port: (server.address() as AddressInfo).port, host: "127.0.0.1" });
  client.on("error", () => undefined);
  client.end();
  const [incoming, response] = (await once(server, "request")) as [IncomingMessage, ServerResponse];
  client.destroy();
  await once(response, "close");
  const own = Object.assign(incoming, { query: {}, get: () => undefined }) as unknown as Request;
  await answer(own, Object.assign(response, { locals: {} }) as unknown as Response);
  // It would be there for as long as this process.
  expect(timers).not.toHaveBeenCalled();
}

test("A client that has gone before its stream begins follows no log", async () => {
  let begun = 0;
  async function* events() {
    begun += 1;
    yield { name: "entry", data: {} };
  }
  await answeredTooLate((incoming, response) => sendEventStream(incoming, response, events));
  expect(begun).toBe(0);
});

test("A client that has gone before its stream begins follows no changes", async () => {
  const subscribe = vi.fn(() => ({ resume: () => undefined, close: () => undefined }));
  await answeredTooLate((incoming, response) =>
    eventStream({ subscribe } as unknown as Parameters<typeof eventStream>[0])(incoming, response, () => undefined),
  );
  expect(subscribe).not.toHaveBeenCalled();
});
