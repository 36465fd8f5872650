import {
  type AuditEntry,
  type BatchResults,
  type BulkCount,
  type BulkResults,
  type CreateObserver,
  type ErrorEntry,
  type ErrorGroup,
  looksLikeUuid,
  type ObserverErrorGroup,
  type ObserverLogs,
  type ObserverView,
  type RunView,
  type ServiceView,
  type SessionView,
  type Stats,
  type TypeView,
} from "@unacked/contracts";
import type { z } from "zod";
import { type AnswerOf, CALLS, type Call, type CallName } from "./calls.ts";
import { type ChangeNews, followChanges } from "./changes.ts";
import type { Connection } from "./connection.ts";
import { decodeAnswer } from "./decode-answer.ts";
import { followLogs, type LogNews } from "./logs.ts";

/** What a list can be narrowed to. Statuses are combined by "or", the rest by "and". */
export interface ObserverFilter {
  status?: string[];
  type?: string;
  service?: string;
  pool?: string;
  labels?: Record<string, string>;
  /** A part of the name. */
  q?: string;
  /** What the last error has in common with others. */
  errorGroup?: string;
}

export interface ErrorFilter {
  reason?: string;
  group?: string;
  /** Name or id. */
  observer?: string;
}

export interface AuditFilter {
  actor?: string;
  deed?: string;
  /** Name or id. */
  observer?: string;
  requestId?: string;
  /** ISO 8601. */
  since?: string;
  until?: string;
}

export type NewObserver = z.input<typeof CreateObserver>;

/** Which ones a bulk call is about: some that are named (by name or id), or all that match. */
export type BulkTarget = { refs: string[] } | { filter: ObserverFilter } | { all: true };

export interface BulkOptions {
  dryRun: boolean;
  force?: boolean;
}

const PAGE_LIMIT = 1_000;

type Query = Record<string, string | number | boolean | string[] | undefined>;

/** The REST API, typed. Every method fails with a CliFailure: refused, unreachable, or an answer of another shape. */
export class UnackedApi {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  get url(): string {
    return this.#connection.url;
  }

  whoAmI(): Promise<SessionView> {
    return this.#call("getSession", {});
  }

  createObserver(body: NewObserver): Promise<ObserverView> {
    return this.#call("createObserver", { body, about: `observer ${body.name}` });
  }

  getObserver(ref: string): Promise<ObserverView> {
    return this.#call("getObserver", { place: ref, about: `observer ${ref}` });
  }

  async listRuns(ref: string): Promise<RunView[]> {
    return (await this.#call("listRuns", { place: ref, about: `observer ${ref}` })).items;
  }

  /** In the order given: each is answered for itself. */
  async createObservers(observers: NewObserver[]): Promise<BatchResults["results"]> {
    return (await this.#call("createObservers", { body: { observers } })).results;
  }

  stopObservers(target: BulkTarget, options: BulkOptions): Promise<BulkResults | BulkCount> {
    return this.#call("stopObservers", { body: { ...toBody(target), ...options } });
  }

  restartObservers(target: BulkTarget, { dryRun }: BulkOptions): Promise<BulkResults | BulkCount> {
    return this.#call("restartObservers", { body: { ...toBody(target), dryRun } });
  }

  /** Page by page, so that a list of any length costs no more memory than a page. */
  observerPages(filter: ObserverFilter, more: { sort?: string; limit?: number } = {}): AsyncGenerator<ObserverView[]> {
    const { sort, limit = Number.POSITIVE_INFINITY } = more;
    return pages(limit, (page) => this.#call("listObservers", { query: { ...toQuery(filter), sort, ...page } }));
  }

  errorPages(filter: ErrorFilter, limit = Number.POSITIVE_INFINITY): AsyncGenerator<ErrorEntry[]> {
    return pages(limit, (page) => this.#call("listErrors", { query: { ...filter, ...page } }));
  }

  /** The newest first. */
  auditPages(filter: AuditFilter, limit = Number.POSITIVE_INFINITY): AsyncGenerator<AuditEntry[]> {
    return pages(limit, (page) => this.#call("listAudit", { query: { ...filter, ...page } }));
  }

  /** Of those in the error queue. */
  async errorGroups(): Promise<ErrorGroup[]> {
    return (await this.#call("groupErrors", {})).items;
  }

  getError(id: string): Promise<ErrorEntry> {
    return this.#call("getError", { place: id, about: `error ${id}` });
  }

  retryError(id: string): Promise<ObserverView> {
    return this.#call("retryError", { place: id, about: `error ${id}` });
  }

  deleteError(id: string): Promise<void> {
    return this.#call("deleteError", { place: id, about: `error ${id}` });
  }

  /** What observers failed of last. */
  async observerErrorGroups(): Promise<ObserverErrorGroup[]> {
    return (await this.#call("getErrorStats", {})).items;
  }

  async listTypes(): Promise<TypeView[]> {
    return (await this.#call("listTypes", {})).items;
  }

  async listServices(options: { all: boolean }): Promise<ServiceView[]> {
    return (await this.#call("listServices", { query: options.all ? { all: true } : {} })).items;
  }

  drainService(service: string): Promise<ServiceView> {
    return this.#call("drainService", { place: service, about: `service ${service}` });
  }

  /** The newest `limit` of what it said. */
  getLogs(ref: string, limit: number): Promise<ObserverLogs> {
    return this.#call("getLogs", { place: ref, query: { limit }, about: `observer ${ref}` });
  }

  followLogs(ref: string, limit: number, signal: AbortSignal): AsyncGenerator<LogNews> {
    const path = `${pathOf("getLogs", ref)}?${toSearch({ follow: true, limit })}`;
    return followLogs(this.#connection, { path, about: `observer ${ref}` }, signal);
  }

  stats(): Promise<Stats> {
    return this.#call("getStats", {});
  }

  changes(signal: AbortSignal): AsyncGenerator<ChangeNews> {
    return followChanges(this.#connection, signal);
  }

  async #call<Name extends CallName>(
    name: Name,
    { place, query = {}, body, about }: { place?: string; query?: Query; body?: unknown; about?: string },
  ): Promise<AnswerOf<Name>> {
    const call: Call = CALLS[name];
    const request = { method: call.method, path: pathOf(name, place), query: toSearch(query), body };
    const raw = await this.#connection.send(request);
    return decodeAnswer(call.answer, raw, about) as AnswerOf<Name>;
  }
}

const pathOf = (name: CallName, place = ""): string => CALLS[name].path.replace(/\{\w+\}/, encodeURIComponent(place));

function toQuery({ labels = {}, ...rest }: ObserverFilter): Query {
  return { ...rest, label: Object.entries(labels).map(([key, value]) => `${key}=${value}`) };
}

function toBody(target: BulkTarget): object {
  if ("all" in target) return { all: true };
  if ("filter" in target) return { filter: target.filter };
  const ids = target.refs.filter(looksLikeUuid);
  const names = target.refs.filter((ref) => !looksLikeUuid(ref));
  return { ...(ids.length > 0 && { ids }), ...(names.length > 0 && { names }) };
}

function toSearch(query: Query): URLSearchParams {
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    if (value === undefined) continue;
    for (const each of Array.isArray(value) ? value : [value]) search.append(key, String(each));
  }
  return search;
}

async function* pages<Item>(
  limit: number,
  read: (page: { limit: number; cursor?: string }) => Promise<{ items: Item[]; nextCursor: string | null }>,
): AsyncGenerator<Item[]> {
  let left = limit;
  for (let cursor: string | null | undefined; left > 0 && cursor !== null; ) {
    const page = await read({ limit: Math.min(PAGE_LIMIT, left), ...(cursor !== undefined && { cursor }) });
    left -= page.items.length;
    cursor = page.nextCursor;
    yield page.items;
  }
}
