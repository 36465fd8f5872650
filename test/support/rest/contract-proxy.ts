import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { EventBlocks } from "@unacked/client";
import { afterAll } from "vitest";
import { watchAnswer, watchEvent } from "./watched-answers.ts";

/**
 * Stands before a manager for clients that are processes of their own: passes everything on as it is, and holds what comes
 * back against the OpenAPI document. Closed at the end of the file.
 */
export async function contractProxy(managerUrl: string): Promise<string> {
  const server = createServer((asked, answered) => passOn(managerUrl, asked, answered));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function passOn(managerUrl: string, asked: IncomingMessage, answered: ServerResponse): void {
  const { method = "GET", url = "/", headers } = asked;
  const forwarded = request(managerUrl, { method, path: url, headers }, (answer) => {
    answered.writeHead(answer.statusCode ?? 502, answer.headers);
    answered.flushHeaders(); // a stream may be silent for long
    watch({ method, url, answer });
    answer.pipe(answered);
    answer.on("error", () => answered.destroy());
  });
  forwarded.on("error", () => answered.destroy()); // the manager is away: the client sees a cut connection, as without us
  answered.on("close", () => forwarded.destroy());
  asked.pipe(forwarded);
}

function watch({ method, url, answer }: { method: string; url: string; answer: IncomingMessage }): void {
  const status = answer.statusCode ?? 0;
  const headers = new Headers(answer.headers as Record<string, string>);
  const isStream = answer.headers["content-type"]?.startsWith("text/event-stream") === true;
  const blocks = new EventBlocks();
  let text = "";
  answer.setEncoding("utf8");
  answer.on("data", (piece: string) => {
    if (!isStream) text += piece;
    else for (const { event, data } of blocks.take(piece)) watchEvent(url, event, JSON.parse(data));
  });
  if (isStream) watchAnswer({ method, url, status, headers, text: "" });
  else answer.on("end", () => watchAnswer({ method, url, status, headers, text }));
}
