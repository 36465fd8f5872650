import {
  type AnswerOf,
  backoffMs,
  type CallInput,
  type CallName,
  type ChangeEvent,
  type LogEvent,
  type MinimalCallName,
  type MinimalOf,
  type PagedCallName,
  placeOf,
  type QueryOf,
} from "@unacked/contracts";
import { type AnyProblem, CallError } from "./call-error.ts";
import type { Decoder, StreamName } from "./decoder.ts";
import { followStream, type Lost, pause } from "./event-stream.ts";
import { Flows } from "./flows/flows.ts";
import { isRepeatable } from "./repeatable.ts";
import { Tasks } from "./tasks/tasks.ts";
import type { RawAnswer, Wire } from "./wire.ts";

export interface ClientParts {
  wire: Wire;
  /** `contractDecoder`, or `trustingDecoder` in a page of the manager's own version. */
  decoder: Decoder;
  /** How often a call that is safe to repeat is made again if nobody answers, or the manager says "later". Default 2. */
  retries?: number;
}

const PAGE_LIMIT = 1_000;
const DELAYS = { firstMs: 250, maxMs: 30_000 };

/** The REST API of one manager, typed by the contracts' table of calls. Every failure is a CallError. */
export class Client {
  readonly #wire: Wire;
  readonly #decoder: Decoder;
  readonly #retries: number;
  /** Jobs that end: to create them, wait for them, or take them to work on them here. */
  readonly tasks: Tasks;
  /** Tasks that wait for each other. */
  readonly flows: Flows;

  constructor({ wire, decoder, retries = 2 }: ClientParts) {
    this.#wire = wire;
    this.#decoder = decoder;
    this.#retries = retries;
    this.tasks = new Tasks(this);
    this.flows = new Flows(this);
  }

  get url(): string {
    return this.#wire.url;
  }

  /** How long one answer may take. */
  get timeoutMs(): number {
    return this.#wire.timeoutMs;
  }

  /** Makes one call, by its operationId. */
  call<Name extends CallName>(name: Name, input: CallInput<Name>, signal?: AbortSignal): Promise<AnswerOf<Name>> {
    return this.#call({ name, input, signal }, (raw) => this.#decoder.answer(name, raw) as AnswerOf<Name>);
  }

  /** Does the same, but is answered only with receipts: for callers who create thousands, and know what they are. */
  callMinimal<Name extends MinimalCallName>(
    name: Name,
    input: CallInput<Name>,
    signal?: AbortSignal,
  ): Promise<MinimalOf<Name>> {
    const called = { name, input, signal, prefer: "return=minimal" };
    return this.#call(called, (raw) => this.#decoder.receipts(name, raw) as MinimalOf<Name>);
  }

  async #call<Answer>({ name, input, signal, prefer }: Called, read: (raw: RawAnswer) => Answer): Promise<Answer> {
    const { path, query, body, ifMatch } = input;
    const request = {
      method: placeOf(name).method,
      path: pathOf(name, path),
      query: toSearch(query),
      body,
      ifMatch,
      prefer,
      signal,
    };
    const attempts = isRepeatable(name, body) ? this.#retries : 0;
    let open: unknown;
    for (let attempt = 0; ; attempt += 1) {
      try {
        return read(await this.#wire.send(request));
      } catch (error) {
        if (open !== undefined && isDoneMeanwhile(error, body)) throw open;
        if (isLeftOpen(error)) open ??= error;
        const laterMs = attempt < attempts ? laterOf(error, attempt) : undefined;
        if (laterMs === undefined) throw error;
        await pause(laterMs, signal);
        signal?.throwIfAborted();
      }
    }
  }

  /**
   * Reads page by page, so that a list of any length costs no more memory than a page. `limit` counts the rows of all pages
   * together.
   */
  async *pages<Name extends PagedCallName>(
    name: Name,
    query: Omit<QueryOf<Name>, "limit" | "cursor">,
    { limit = Number.POSITIVE_INFINITY, signal }: { limit?: number | undefined; signal?: AbortSignal | undefined } = {},
  ): AsyncGenerator<AnswerOf<Name>> {
    let left = limit;
    for (let cursor: string | null | undefined; left > 0 && cursor !== null; ) {
      const place = { limit: Math.min(PAGE_LIMIT, left), cursor };
      const page = await this.call(name, { query: { ...query, ...place } } as CallInput<Name>, signal);
      const { items, nextCursor } = page as Page;
      left -= items.length;
      cursor = nextCursor;
      yield page;
    }
  }

  /** Follows every change until `signal`. The first `ready` marks the beginning. No change is skipped without a `resync`. */
  changes(signal: AbortSignal): AsyncGenerator<ChangeEvent | Lost> {
    return this.#follow<ChangeEvent>("followChanges", { path: pathOf("followChanges") }, signal);
  }

  /** Follows what an observer logs, until `signal` or until it is over. Nothing comes twice, even after a break. */
  logs(ref: string, { limit }: { limit: number }, signal: AbortSignal): AsyncGenerator<LogEvent | Lost> {
    const path = `${pathOf("getLogs", { ref })}?${toSearch({ follow: true, limit })}`;
    return this.#follow<LogEvent>("getLogs", { path, last: "end" }, signal);
  }

  async *#follow<Event>(stream: StreamName, address: { path: string; last?: string }, signal: AbortSignal) {
    const request = `GET ${this.#wire.url}${address.path}`;
    for await (const block of followStream(this.#wire, this.#decoder, address, signal)) {
      if ("name" in block) yield block;
      else {
        const event = this.#decoder.event(stream, block, request);
        if (event !== undefined) yield event as Event;
      }
    }
  }
}

interface Page {
  items: unknown[];
  nextCursor: string | null;
}

interface Called {
  name: CallName;
  input: AnyInput;
  signal: AbortSignal | undefined;
  prefer?: string;
}

/** Everything that a call of any kind can be given. */
interface AnyInput {
  path?: Readonly<Record<string, string>> | undefined;
  query?: object | undefined;
  body?: unknown;
  ifMatch?: string | undefined;
}

const pathOf = (name: CallName, values: Readonly<Record<string, string>> = {}): string =>
  placeOf(name).path.replaceAll(/\{(\w+)\}/g, (_, parameter: string) => encodeURIComponent(values[parameter] ?? ""));

export function toSearch(query: object = {}): URLSearchParams {
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    if (value === undefined) continue;
    for (const each of Array.isArray(value) ? value : [value]) search.append(key, String(each));
  }
  return search;
}

/**
 * Whether an earlier attempt that nobody answered may have set the timer: it may have fired since, or with `inMs` it would by now expire
 * before it is due.
 */
const isDoneMeanwhile = (error: unknown, body: unknown): boolean =>
  error instanceof CallError && (error.code === "timer-over" || ("inMs" in Object(body) && isInVain(error.problem)));

const isInVain = (problem: AnyProblem | undefined): boolean =>
  problem?.code === "invalid-body" && problem.errors?.some(({ pointer }) => pointer === "/expiresAt") === true;

/** Whether the call may have been done: nobody answered, or only a proxy, or the database was lost, perhaps as it committed. */
function isLeftOpen(error: unknown): boolean {
  if (!(error instanceof CallError && error.isPassing)) return false;
  return error.problem === undefined ? error.status !== 429 : error.code === "database-unavailable";
}

/** When to try again, in ms. Undefined means that the answer would be the same. */
function laterOf(error: unknown, attempt: number): number | undefined {
  if (!(error instanceof CallError && error.isPassing)) return undefined;
  const delayMs = error.problem?.retryAfterS === undefined ? backoffMs(DELAYS, attempt) : error.problem.retryAfterS * 1_000;
  return Math.min(DELAYS.maxMs, delayMs);
}
