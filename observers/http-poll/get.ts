import { type Dispatcher, fetch, type Response } from "undici";
import { AddressRefused } from "../outbound/reach.ts";
import { type Look, lookAt } from "./look.ts";

export type GetOptions = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Of the look before: where nothing has changed the server need not send it again. */
  readonly before: Answer | undefined;
  /** JSON pointer of the value to read; without it the body is not read. */
  readonly pointer: string | undefined;
  /** For the whole: connecting, answer and body. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** What makes the connections, redirects included; undici's own, which goes anywhere, if left out. */
  readonly agent?: Dispatcher | undefined;
};

/** A look, and the server's name for what it saw. */
export type Answer = { readonly look: Look; readonly etag?: string | undefined };

/** More of a body is not read: an observer runs for ever, next to others. */
export const maxBodyBytes = 1_048_576;

/**
 * GETs an address once. Every answer is a look, whatever its status; so is every failure to get one (`unreachable`).
 * Resolves `undefined` when the signal aborted meanwhile. Rejects only with AddressRefused, which is no state of a server.
 */
export async function get(options: GetOptions): Promise<Answer | undefined> {
  const { url, pointer, timeoutMs, signal, agent } = options;
  const known = knownOf(options);
  const headers = known === undefined ? options.headers : { ...options.headers, "if-none-match": known.etag };
  // One controller a request, unhooked when it ends: AbortSignal.any would hang each on a signal that lives for months.
  const abort = new AbortController();
  const onAbort = () => abort.abort(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  const timer = setTimeout(() => abort.abort(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
  try {
    if (signal.aborted) return undefined;
    const response = await fetch(url, { headers, signal: abort.signal, ...(agent && { dispatcher: agent }) });
    if (known !== undefined && response.status === 304) {
      await response.body?.cancel();
      return known;
    }
    const etag = response.headers.get("etag") ?? undefined;
    if (pointer === undefined) {
      await response.body?.cancel();
      return { look: { status: response.status }, etag };
    }
    const body = await readText(response);
    if (body === undefined)
      return { look: { status: response.status, error: `the body is over ${maxBodyBytes} bytes` }, etag };
    return { look: lookAt(response.status, body, pointer), etag };
  } catch (error) {
    if (signal.aborted) return undefined;
    // fetch wraps what the agent says.
    if (error instanceof Error && error.cause instanceof AddressRefused) throw error.cause;
    return { look: { status: "unreachable", error: wordsOf(error) } };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  }
}

/** What need not be sent again; of an observer that says by itself what it knows nothing. */
function knownOf({ headers, before }: GetOptions): (Answer & { etag: string }) | undefined {
  const { etag } = before ?? {};
  if (before === undefined || etag === undefined) return undefined;
  const isTheirs = Object.keys(headers).some((name) => name.toLowerCase() === "if-none-match");
  return isTheirs ? undefined : { ...before, etag };
}

/** The body as text, without a byte order mark; `undefined` if it is too long. */
async function readText(response: Response): Promise<string | undefined> {
  if (response.body === null) return "";
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of response.body) {
    bytes += part.byteLength;
    if (bytes > maxBodyBytes) return undefined;
    parts.push(part);
  }
  return new TextDecoder().decode(Buffer.concat(parts));
}

/** fetch says "fetch failed" and keeps the cause for itself. */
function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  if (!(cause instanceof Error)) return error.message;
  const code = "code" in cause ? `${String(cause.code)} ` : "";
  return `${error.message}: ${code}${cause.message}`.trim();
}
