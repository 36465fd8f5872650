import type { Method } from "@unacked/contracts";
import { CallError } from "./call-error.ts";
import { JoinedSignal } from "./joined-signal.ts";

export interface WireOptions {
  /**
   * `http://127.0.0.1:8080`. It may have a path, as behind a proxy. In a browser, "" or a path alone belongs to the origin of the
   * page.
   */
  url: string;
  token?: string | undefined;
  /** How long an answer, or the head of a stream, may take. `Infinity` means no limit. Default 20 s. */
  timeoutMs?: number;
  /** Default: the platform's own. */
  fetch?: typeof fetch;
}

export interface Request {
  method: Method;
  path: string;
  query?: URLSearchParams;
  body?: unknown;
  /** The tag that the thing was read with: it is changed only if it still has it. */
  ifMatch?: string | undefined;
  /** The value of the header `Prefer`. */
  prefer?: string | undefined;
  signal?: AbortSignal | undefined;
}

export interface RawAnswer {
  /** `GET http://…/api/v1/observers`, for messages. */
  request: string;
  status: number;
  contentType: string;
  text: string;
}

/** Longer than a manager itself waits for its database (12 s). */
const TIMEOUT_MS = 20_000;

/**
 * What is wrong with an address: `fetch` would refuse each call there, or ask for something else, and it would look like a manager that
 * cannot be reached. What may be a password is not quoted. In a browser a path alone, or nothing, belongs to the page's origin.
 */
function addressFlaw(url: string, mayBeRelative: boolean): string | undefined {
  const isRelative = url === "" || url.startsWith("/");
  const base = isRelative ? "http://page" : undefined;
  if (!(isRelative || /^https?:/.test(url)) || !URL.canParse(url, base))
    return `${url.includes("@") ? "that" : `"${url}"`} is no address of a manager: write it as http://127.0.0.1:8080`;
  const { username, password } = new URL(url, base);
  if (username !== "" || password !== "") return "the address of a manager may not hold a password: give a token";
  if (/[?#]/.test(url)) return "the address of a manager has no query and no fragment: write it as http://127.0.0.1:8080";
  if (isRelative && !mayBeRelative)
    return `"${url}" is of where a page came from, and this is no page: write it as http://127.0.0.1:8080`;
  return undefined;
}

/**
 * Whether the token may stand in a header (RFC 9110, 5.5). A line break in the middle may not, as from a file with more than the token in
 * it: `fetch` would refuse each call, quote the token as it says why, and look like a manager that cannot be reached.
 */
export const isToken = (token: string): boolean => !/[^\t\u0020-\u007e\u0080-\u00ff]/.test(token.trim());

/** HTTP to one manager. Every failure to get an answer is a CallError, or the reason of the caller's signal. */
export class Wire {
  readonly #options: WireOptions;
  /** The token alone, as it was checked: characters around it would be refused when it is sent. */
  readonly #token: string | undefined;
  readonly url: string;
  readonly timeoutMs: number;

  /** @throws TypeError where `url` is no address, `token` none, or `timeoutMs` NaN: no try would find a manager there, or be understood by it */
  constructor(options: WireOptions) {
    this.#options = options;
    this.#token = options.token?.trim();
    this.url = options.url.replace(/\/+$/, ""); // paths begin with one
    this.timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
    const flaw = addressFlaw(this.url, options.fetch !== undefined || "location" in globalThis);
    if (flaw !== undefined) throw new TypeError(flaw);
    if (Number.isNaN(this.timeoutMs)) throw new TypeError("timeoutMs is NaN: it is a number of ms, or Infinity");
    if (this.#token !== undefined && !isToken(this.#token))
      throw new TypeError("the token is none: it has a line break, or another character that no header may have");
  }

  async send(request: Request): Promise<RawAnswer> {
    const until = new JoinedSignal([request.signal], this.timeoutMs);
    try {
      const response = await this.#fetch(request, until);
      return await rawOf(response, this.#name(request)).catch((error: unknown) => this.#fail(request, error, until));
    } finally {
      until.release();
    }
  }

  /** Opens a stream that lasts until `signal`. Only its head has a time limit. */
  async open(path: string, headers: Record<string, string>, signal: AbortSignal): Promise<Response> {
    const until = new JoinedSignal([signal], this.timeoutMs);
    try {
      return await this.#fetch({ method: "GET", path }, until, headers);
    } finally {
      until.stopClock();
    }
  }

  #name({ method, path }: Request): string {
    return `${method} ${this.url}${path}`;
  }

  async #fetch(request: Request, until: JoinedSignal, headers: Record<string, string> = {}): Promise<Response> {
    const { method, path, query, body, ifMatch, prefer } = request;
    const { fetch: fetchBy = fetch } = this.#options;
    const search = query === undefined || query.size === 0 ? "" : `?${query}`;
    const init: RequestInit = {
      method,
      headers: {
        ...headers,
        ...(body !== undefined && { "content-type": "application/json" }),
        ...(ifMatch !== undefined && { "if-match": ifMatch }),
        ...(prefer !== undefined && { prefer }),
        ...(this.#token !== undefined && { authorization: `Bearer ${this.#token}` }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      redirect: "manual", // after a redirect a POST would become a GET
      signal: until.signal,
    };
    const response = await fetchBy(`${this.url}${path}${search}`, init).catch((error: unknown) =>
      this.#fail(request, error, until),
    );
    const isRedirection = response.type === "opaqueredirect" || (response.status >= 300 && response.status <= 399);
    if (!isRedirection) return response;
    await response.body?.cancel();
    const target = response.headers.get("location") ?? "somewhere else";
    throw new CallError("redirected", `${this.url} sends elsewhere: ${target}`, { request: this.#name(request) });
  }

  #fail(request: Request, error: unknown, { signal, isTimeUp }: JoinedSignal): never {
    if (signal.aborted && !isTimeUp) throw signal.reason; // the caller is leaving
    const about = { request: this.#name(request), cause: error };
    if (isTimeUp) throw new CallError("timed-out", `no answer within ${this.timeoutMs} ms`, about);
    throw new CallError("unreachable", causeOf(error), about);
  }
}

export async function rawOf(response: Response, request: string): Promise<RawAnswer> {
  return {
    request,
    status: response.status,
    contentType: response.headers.get("content-type") ?? "",
    text: await response.text(),
  };
}

/**
 * `fetch` says only that it failed. The reason is in its causes, and if several addresses were tried, in the last of them.
 */
export function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof AggregateError && error.errors.length > 0) return causeOf(error.errors.at(-1));
  return error.cause === undefined ? error.message || String((error as { code?: string }).code) : causeOf(error.cause);
}
