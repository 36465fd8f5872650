import { CliFailure } from "../failure.ts";
import type { RawAnswer } from "./decode-answer.ts";
import { type TlsFiles, tlsFetch } from "./tls-fetch.ts";

export interface Address {
  /** Without a slash at its end. May have a path, as behind a proxy. */
  url: string;
  token?: string | undefined;
  /** Not given: what Node knows. */
  tls?: TlsFiles | undefined;
}

export interface Request {
  method: "GET" | "POST" | "DELETE";
  path: string;
  query?: URLSearchParams;
  body?: unknown;
}

/** HTTP to one manager: every failure to get an answer is a CliFailure that says why. */
export class Connection {
  readonly #address: Address;
  readonly #timeoutMs: number;
  readonly #fetchBy: typeof fetch;

  constructor(address: Address, options: { timeoutMs: number }) {
    this.#address = address;
    this.#fetchBy = tlsFetch(address.tls ?? {});
    this.#timeoutMs = options.timeoutMs;
  }

  get url(): string {
    return this.#address.url;
  }

  async send(request: Request): Promise<RawAnswer> {
    const timeout = AbortSignal.timeout(this.#timeoutMs);
    const response = await this.#fetch(request, timeout);
    const text = await response.text().catch((error: unknown) => Promise.reject(this.#unreachable(error, timeout)));
    return {
      request: `${request.method} ${this.#address.url}${request.path}`,
      status: response.status,
      contentType: response.headers.get("content-type") ?? "",
      text,
    };
  }

  /** A stream that lasts until `signal`; only its head has to come in time. */
  async open(path: string, headers: Record<string, string>, signal: AbortSignal): Promise<Response> {
    const untilHead = new AbortController();
    const timer = setTimeout(() => untilHead.abort(new DOMException("", "TimeoutError")), this.#timeoutMs);
    try {
      const both = AbortSignal.any([signal, untilHead.signal]);
      return await this.#fetch({ method: "GET", path }, both, headers);
    } finally {
      clearTimeout(timer);
    }
  }

  async #fetch(request: Request, signal: AbortSignal, headers: Record<string, string> = {}): Promise<Response> {
    const { method, path, query, body } = request;
    const search = query === undefined || query.size === 0 ? "" : `?${query}`;
    const init: RequestInit = {
      method,
      headers: {
        ...headers,
        ...(body !== undefined && { "content-type": "application/json" }),
        ...(this.#address.token !== undefined && { authorization: `Bearer ${this.#address.token}` }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      redirect: "manual", // a followed POST would become a GET
      signal,
    };
    const response = await this.#fetchBy(`${this.#address.url}${path}${search}`, init).catch((error: unknown) =>
      Promise.reject(this.#unreachable(error, signal)),
    );
    if (response.status < 300 || response.status > 399) return response;
    await response.body?.cancel();
    throw new CliFailure("unexpectedAnswer", `${this.#address.url} sends elsewhere: ${response.headers.get("location")}`, {
      remedy: "Use that address.",
    });
  }

  #unreachable(error: unknown, signal: AbortSignal): unknown {
    const isTimeout = signal.aborted && (signal.reason as Error | undefined)?.name === "TimeoutError";
    if (signal.aborted && !isTimeout) return signal.reason; // we are leaving
    const why = isTimeout ? `no answer within ${this.#timeoutMs} ms` : causeOf(error);
    const ofTls = TLS_REMEDIES.find(([pattern]) => this.#address.url.startsWith("https:") && pattern.test(why));
    const remedy = ofTls?.[1] ?? ADDRESS_REMEDY;
    return new CliFailure("unreachable", `Cannot reach the manager at ${this.#address.url}: ${why}`, {
      remedy,
      cause: error,
    });
  }
}

const ADDRESS_REMEDY =
  "Is it running, and is this its address? Set it with --url, UNACKED_URL or `unacked config set-context`.";

const TLS_REMEDIES: [RegExp, string][] = [
  [
    /self-signed certificate|unable to (verify|get)/i,
    "Say by --certificate-authority FILE (PEM) who may have signed its certificate.",
  ],
  [
    /alert|other side closed|ECONNRESET/, // what is seen of a refusal, which TLS 1.3 sends after its handshake
    "If it asks for a certificate, give one that it trusts, by --client-certificate FILE and --client-key FILE (PEM).",
  ],
];

/** `fetch` says only that it failed; why is in its causes, and with several addresses tried, in the last of them. */
function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof AggregateError && error.errors.length > 0) return causeOf(error.errors.at(-1));
  return error.cause === undefined ? error.message || String((error as { code?: string }).code) : causeOf(error.cause);
}
