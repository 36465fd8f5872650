import { EventEmitter, once } from "node:events";
import { type ClientRequest, createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Role } from "@unacked/contracts";
import type { Request, Response } from "express";
import { expect, onTestFinished, test, vi } from "vitest";
import { KEPT_SERVICE } from "../../../services/observer-manager/src/adapters/http/openapi/examples/service-examples.ts";
import { setCaller } from "../../../services/observer-manager/src/adapters/http/server/caller.ts";
import { eventStream } from "../../../services/observer-manager/src/adapters/http/server/change-events.ts";
import {
  keepEventStream,
  sendEventStream,
} from "../../../services/observer-manager/src/adapters/http/server/server-sent-events.ts";
import { ANONYMOUS } from "../../../services/observer-manager/src/domain/access/identity.ts";
import type { ChangeEvent } from "../../../services/observer-manager/src/operations/changes/change-event.ts";
import type { ChangeSink } from "../../../services/observer-manager/src/operations/changes/change-stream.ts";

/** A request as it came, and who has sent it. */
async function asked(): Promise<{ client: ClientRequest; incoming: IncomingMessage; response: ServerResponse }> {
  const server = createServer();
  onTestFinished(() => void server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  const client = request({ port: (server.address() as AddressInfo).port, host: "127.0.0.1" });
  client.on("error", () => undefined);
  client.end();
  const [incoming, response] = (await once(server, "request")) as [IncomingMessage, ServerResponse];
  return { client, incoming, response };
}

/** What is answered by `answer` to somebody who has gone by then, as while it was looked up who asks. */
async function answeredTooLate(answer: (request: Request, response: Response) => unknown): Promise<void> {
  const timers = vi.spyOn(globalThis, "setInterval");
  onTestFinished(() => timers.mockRestore());
  const { client, incoming, response } = await asked();
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

test("A client to which much is sent just as its stream beats, after long calm, goes on; one that reads no more is cut off", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const wire = { writableNeedDrain: false, write: vi.fn(), end: vi.fn(), destroy: vi.fn() };
  const response = Object.assign(new EventEmitter(), { locals: {}, ...wire });
  const incoming = { socket: { setNoDelay: () => undefined } };
  keepEventStream(incoming as unknown as Request, response as unknown as Response, { isGone: () => undefined });
  await vi.advanceTimersByTimeAsync(600_000);
  expect(response.write).toHaveBeenCalledTimes(40);
  for (let burst = 0; burst < 3; burst += 1) {
    response.writableNeedDrain = true;
    await vi.advanceTimersByTimeAsync(45_000);
    response.writableNeedDrain = false;
    response.emit("drain");
  }
  expect(response.destroy).not.toHaveBeenCalled();
  response.writableNeedDrain = true;
  await vi.advanceTimersByTimeAsync(90_000);
  expect(response.destroy).toHaveBeenCalled();
  response.emit("close");
});

/** What is written to a caller of this role who follows the changes. */
function toldTo(role: Role, event: ChangeEvent): string {
  const written: string[] = [];
  const wire = { writeHead: () => undefined, write: (text: string) => written.push(text), writableLength: 0 };
  const response = Object.assign(new EventEmitter(), { locals: {}, ...wire }) as unknown as Response;
  setCaller(response, { identity: { ...ANONYMOUS, role }, isStillWelcome: async () => true });
  const request = { query: {}, get: () => undefined, socket: { setNoDelay: () => undefined } } as unknown as Request;
  const subscribe = (sink: ChangeSink) => {
    sink.send(event);
    return { resume: () => undefined, close: () => undefined };
  };
  eventStream({ subscribe } as unknown as Parameters<typeof eventStream>[0])(request, response, () => undefined);
  response.emit("close");
  return written.join("");
}

test("A change of a service shows an operator the lines of code around what does not load, and a viewer none", () => {
  const event: ChangeEvent = {
    kind: "service",
    view: { ...KEPT_SERVICE, brokenFiles: KEPT_SERVICE.reload.answer.brokenFiles },
  };
  for (const role of ["operator", "viewer", "admin"] as const) {
    const told = toldTo(role, event);
    expect(told).toContain("it does not load: SyntaxError");
    expect(told.includes("async run({ signal )"), role).toBe(role !== "viewer");
    expect(told.includes("a file does not load"), role).toBe(role !== "viewer");
  }
});

test("A client whose token was taken back is cut off also if it reads nothing of its stream any more", async () => {
  const { incoming, response } = await asked();
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const own = Object.assign(response, { locals: {} }) as unknown as Response;
  setCaller(own, { identity: ANONYMOUS, isStillWelcome: async () => false });
  const isGone = vi.fn();
  keepEventStream(incoming as unknown as Request, own, { isGone });
  // More than the kernel's buffers take of a client that has not even read the head.
  response.write("x".repeat(32 * 1_048_576));
  await vi.advanceTimersByTimeAsync(15_000);
  expect(isGone).toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(response.closed).toBe(false);
  await vi.advanceTimersByTimeAsync(30_000);
  expect(response.destroyed).toBe(true);
});

test("One caller has a thousand streams of changes open, and others theirs; each that is closed makes room", () => {
  const subscribe = () => ({ resume: () => undefined, close: () => undefined });
  const follow = eventStream({ subscribe } as unknown as Parameters<typeof eventStream>[0]);
  const opened = (name: string) => {
    const wire = { locals: {}, writeHead: () => undefined, write: () => true };
    const response = Object.assign(new EventEmitter(), wire) as unknown as Response;
    setCaller(response, { identity: { ...ANONYMOUS, authentication: "token", name }, isStillWelcome: async () => true });
    const request = { query: {}, get: () => undefined, socket: { setNoDelay: () => undefined } } as unknown as Request;
    follow(request, response, () => undefined);
    return response;
  };
  const all = Array.from({ length: 1_000 }, () => opened("anna"));
  expect(() => opened("anna")).toThrow(
    expect.objectContaining({ refusal: expect.objectContaining({ code: "too-many-requests" }) }),
  );
  all.push(opened("ben"));
  all[0]?.emit("close");
  all.push(opened("anna"));
  expect(() => opened("anna")).toThrow();
  for (const response of all) response.emit("close");
});
