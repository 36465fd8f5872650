import { watchAnswer } from "./watched-answers.ts";

export interface CallOptions {
  json?: unknown;
  body?: string | Uint8Array<ArrayBuffer>;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

export interface Called {
  status: number;
  headers: Headers;
  text: string;
  /** The parsed body; undefined when it is not JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: whatever the manager answered; the assertions say what it should be.
  body: any; // oxlint-disable-line typescript/no-explicit-any
}

/** One call of a manager, as any client makes it. The answer is held against the OpenAPI document. */
export async function callHttp(url: string, method: string, options: CallOptions = {}): Promise<Called> {
  const { json, body, headers, signal } = options;
  const sent = json === undefined ? body : JSON.stringify(json);
  const type: Record<string, string> = json === undefined ? {} : { "content-type": "application/json" };
  const response = await fetch(url, { method, body: sent, headers: { ...type, ...headers }, signal });
  const text = await response.text();
  const { status, headers: sentBack } = response;
  watchAnswer({ method, url, status, headers: sentBack, text });
  return { status, headers: sentBack, text, body: parsed(text) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // a page, a stream, or nothing
  }
}
