import { type Dispatcher, fetch, type Response } from "undici";
import { AddressRefused } from "../outbound/reach.ts";
import { type Look, lookAt } from "./look.ts";

export type GetOptions = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON pointer of the value to read; without it the body is not read. */
  readonly pointer: string | undefined;
  /** For the whole: connecting, answer and body. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** What makes the connections, redirects included; undici's own, which goes anywhere, if left out. */
  readonly agent?: Dispatcher | undefined;
};

/** More of a body is not read: an observer runs for ever, next to others. */
export const maxBodyBytes = 1_048_576;

/**
 * GETs an address once. Every answer is a look, whatever its status; so is every failure to get one (`unreachable`).
 * Resolves `undefined` when the signal aborted meanwhile. Rejects only with AddressRefused, which is no state of a server.
 */
export async function get(options: GetOptions): Promise<Look | undefined> {
  const { url, headers, pointer, timeoutMs, signal, agent } = options;
  // One controller a request, unhooked when it ends: AbortSignal.any would hang each on a signal that lives for months.
  const abort = new AbortController();
  const onAbort = () => abort.abort(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  const timer = setTimeout(() => abort.abort(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
  try {
    if (signal.aborted) return undefined;
    const response = await fetch(url, { headers, signal: abort.signal, ...(agent && { dispatcher: agent }) });
    if (pointer === undefined) {
      await response.body?.cancel();
      return { status: response.status };
    }
    const body = await readText(response);
    if (body === undefined) return { status: response.status, error: `the body is over ${maxBodyBytes} bytes` };
    return lookAt(response.status, body, pointer);
  } catch (error) {
    if (signal.aborted) return undefined;
    // fetch wraps what the agent says.
    if (error instanceof Error && error.cause instanceof AddressRefused) throw error.cause;
    return { status: "unreachable", error: wordsOf(error) };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  }
}

/** The body as text, `undefined` if it is too long. */
async function readText(response: Response): Promise<string | undefined> {
  if (response.body === null) return "";
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of response.body) {
    bytes += part.byteLength;
    if (bytes > maxBodyBytes) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts).toString("utf8");
}

/** fetch says "fetch failed" and keeps the cause for itself. */
function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  if (!(cause instanceof Error)) return error.message;
  const code = "code" in cause ? `${String(cause.code)} ` : "";
  return `${error.message}: ${code}${cause.message}`.trim();
}
