import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import express from "express";
import { expect, test } from "vitest";
import { messagesOf } from "../../services/observer-manager/src/adapters/http/server/express-messages.ts";

/* Express gives each request and response a prototype, and V8 then a hidden class of its own: what has it already keeps the common one. */

test("What a server makes for an app has the prototypes that express would give it, and all that express adds", async () => {
  const app = express();
  const seen: object[] = [];
  app.get("/there", (request, response) => {
    seen.push(Object.getPrototypeOf(request), Object.getPrototypeOf(response));
    response.status(201).json({ path: request.path, app: request.app === app, query: request.query });
  });
  const server = createServer(messagesOf(app), (request, response) => {
    seen.push(Object.getPrototypeOf(request), Object.getPrototypeOf(response));
    app(request as express.Request, response as express.Response);
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/there?a=b`);
  expect(answer.status).toBe(201);
  expect(await answer.json()).toEqual({ path: "/there", app: true, query: { a: "b" } });
  const [requestBefore, responseBefore, requestIn, responseIn] = seen;
  expect(requestBefore).toBe(app.request);
  expect(requestIn).toBe(requestBefore);
  expect(responseBefore).toBe(app.response);
  expect(responseIn).toBe(responseBefore);
  server.close();
});
