import { onTestFinished } from "vitest";
import { watchAnswer, watchEvent } from "./watched-answers.ts";

export interface SentEvent {
  event: string;
  id?: string;
  // biome-ignore lint/suspicious/noExplicitAny: whatever was sent; the assertions say what it should be.
  data: any; // oxlint-disable-line typescript/no-explicit-any
}

/** A client of server-sent events that keeps what it was sent. Ended with the test. */
export interface EventClient {
  events: SentEvent[];
  comments: string[];
  response: Response;
  /** Resolves when the server has ended the stream. */
  ended: Promise<void>;
  close(): void;
}

export async function followEvents(url: string, headers: Record<string, string> = {}): Promise<EventClient> {
  const leaving = new AbortController();
  const response = await fetch(url, { headers, signal: leaving.signal });
  if (response.ok) watchAnswer({ method: "GET", url, status: response.status, headers: response.headers, text: "" });
  const client: EventClient = { events: [], comments: [], response, ended: Promise.resolve(), close: () => leaving.abort() };
  if (response.body !== null) client.ended = readBlocks(url, response.body, client).catch(() => undefined); // it left
  onTestFinished(() => leaving.abort());
  return client;
}

async function readBlocks(url: string, body: ReadableStream<Uint8Array>, client: EventClient): Promise<void> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of body) {
    const blocks = `${rest}${decoder.decode(chunk, { stream: true })}`.split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) takeBlock(url, block, client);
  }
}

function takeBlock(url: string, block: string, client: EventClient): void {
  const fields = new Map(
    block.split("\n").map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)]),
  );
  const [comment, event, data] = [fields.get(""), fields.get("event"), fields.get("data")];
  if (comment !== undefined) client.comments.push(comment);
  if (event === undefined || data === undefined) return;
  const id = fields.get("id");
  watchEvent(url, event, JSON.parse(data));
  client.events.push({ event, data: JSON.parse(data), ...(id !== undefined && { id }) });
}
