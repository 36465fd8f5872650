import { join } from "node:path";
import type { BatchResults, ObserverView, ProblemDetails, ServiceView, Stats } from "@unacked/contracts";
import { expect } from "vitest";
import { ActsFile } from "../acts/acts-file.ts";
import { type Act, findViolations, longestOverlapMs, mostLateActs } from "../acts/invariants.ts";
import type { Management } from "../broker/management.ts";
import { type TcpProxy, tcpProxy } from "../broker/tcp-proxy.ts";
import { closeBrowsers } from "../browser/browsers-open.ts";
import { eventually } from "../eventually.ts";
import { ROOT, type RunningProcess, startProcess } from "../processes/processes.ts";
import { callHttp } from "../rest/rest-client.ts";
import { expectAnswers, isOlderManager } from "../rest/watched-answers.ts";
import { OBSERVERS_DIR } from "../runs/observers-dir.ts";
import { freshDatabase, freshVhost, queryRows, temporaryFolder } from "../servers/servers.ts";

export interface SystemOptions {
  amqpUrl: string;
  databaseUrl: string;
  management?: Management;
  /** Heartbeat of services and managers in s. Default 4. */
  heartbeatS?: number;
  /** Settings of services and managers alike. */
  env?: Record<string, string>;
  /** What REST is spoken to with, for managers that ask who one is. */
  token?: string;
}

export interface ServiceOptions {
  /** Default 10. */
  workers?: number;
  env?: Record<string, string>;
  /** False: returns as soon as it is spawned. */
  untilKnown?: boolean;
  /** It reaches the broker through this, from `System.wire()`. */
  wire?: TcpProxy;
  /** Where it was built, if not here: another version. */
  root?: string;
  /** As of `startProcess`; with `untilKnown: false`, as the books know another pid. */
  below?: readonly string[];
}

/** What a call about an observer answers: the observer, or a problem. */
export type ObserverOrProblem = ObserverView & Pick<ProblemDetails, "code" | "errors" | "knownTypes">;

export interface Answer<T> {
  status: number;
  headers: Headers;
  body: T;
}

/** A vhost and a database of the file's own on the run's servers. */
export async function freshSystem(options: Partial<SystemOptions> = {}): Promise<System> {
  const { amqpUrl, management } = await freshVhost();
  const { databaseUrl } = await freshDatabase();
  return new System({ amqpUrl, databaseUrl, management, ...options });
}

/** A service that is killed with -9 leaves its slots acting until they read the end of their lifeline (docs/guarantees.md, 2). */
export const KILLED_KEEPER_OVERLAP_MS = 50;
/** What a machine that runs everything at once may hold a process up, where no bystander stamps or it goes on meanwhile. */
export const BUSY_MACHINE_MS = 200;

/** Types that leave acts. */
const STAMPING = new Set(["updatable", "walker", "stamp", "admitted", "counter"]);

/** Of this commit its bundle; an older release has it in dist. */
const programOf = (root: string, program: string): string =>
  `${root}/services/${program}/${root === ROOT ? "bundle" : "dist"}/main.js`;

/**
 * The whole of Unacked as its users run it: real processes on a real broker and database. Observers are of the type
 * `stamp`, which writes its acts into a file; `check()` holds these acts, the queue and the books against what must be.
 */
export class System {
  readonly #options: SystemOptions;
  /** Where stamping observers write; for those that are not made by `create`. */
  readonly actsFile = join(temporaryFolder("acts"), "acts.jsonl");
  readonly #acts = new ActsFile(this.actsFile);
  readonly managers: RunningProcess[] = [];
  readonly services = new Map<string, RunningProcess>();
  /** All that were ever started, also those whose name another has taken. */
  readonly #everyService: RunningProcess[] = [];
  /** Where REST is spoken to; the first manager unless changed. */
  url = "";
  /** Observers that must not act any more, and since when. */
  readonly #over = new Map<string, bigint>();
  /** Their message may start them once more; that run is stopped as soon as the manager hears of it. */
  readonly #mayStartOnceMore = new Set<string>();

  constructor(options: SystemOptions) {
    this.#options = options;
  }

  get management(): Management {
    if (!this.#options.management) throw new Error("this system was not given a management client");
    return this.#options.management;
  }

  get env(): Record<string, string> {
    return {
      AMQP_URL: this.#options.amqpUrl,
      DATABASE_URL: this.#options.databaseUrl,
      HEARTBEAT_S: String(this.#options.heartbeatS ?? 4),
      HOST: "127.0.0.1",
      PORT: "0",
      SLOTS: "1", // and the spare: each costs half a second of CPU to start, and most files are not about them
      ...this.#options.env,
    };
  }

  /** Starts a manager and waits until it listens (and, unless told otherwise, is ready). */
  async startManager(
    options: { port?: number; untilReady?: boolean; speakTo?: boolean; env?: Record<string, string>; root?: string } = {},
  ): Promise<RunningProcess> {
    const { port = 0, untilReady = true, speakTo = true, env = {}, root = ROOT } = options;
    const manager = startProcess({
      file: programOf(root, "observer-manager"),
      name: "manager",
      env: { ...this.env, PORT: String(port), ...env },
    });
    this.managers.push(manager);
    const { url } = await manager.waitForEvent("listening");
    expectAnswers();
    if (root !== ROOT) isOlderManager(String(url));
    if (speakTo) this.url = String(url);
    if (untilReady) await this.untilReady(String(url));
    return manager;
  }

  async untilReady(url = this.url): Promise<void> {
    await eventually(async () => expect((await this.call("GET", "/readyz", undefined, url)).status).toBe(200), {
      timeoutMs: 20_000,
      what: "the manager's readiness",
    });
  }

  /** A wire of its own to the broker, or to this node of it, to be made bad; give it to `startService`. */
  wire(amqpUrl = this.#options.amqpUrl): Promise<TcpProxy> {
    return tcpProxy(amqpUrl);
  }

  /** Starts a service and waits until the books know it with this boot's pid. */
  async startService(name: string, options: ServiceOptions = {}): Promise<RunningProcess> {
    const { workers = 10, env = {}, untilKnown = true, wire, root = ROOT, below = [] } = options;
    const service = startProcess({
      file: programOf(root, "observer-service"),
      name,
      below,
      env: {
        ...this.env,
        SERVICE_NAME: name,
        WORKER_COUNT: String(workers),
        OBSERVERS_DIR,
        ...(wire && { AMQP_URL: wire.through(this.#options.amqpUrl) }),
        ...env,
      },
    });
    this.services.set(name, service);
    this.#everyService.push(service);
    if (untilKnown) await this.untilServiceKnown(name);
    return service;
  }

  async untilServiceKnown(name: string): Promise<void> {
    const { pid } = this.service(name);
    await eventually(
      async () => {
        const known = await this.listServices();
        expect(known.map((one) => [one.name, one.pid, one.state])).toContainEqual([name, pid, "Alive"]);
      },
      { what: `service ${name} in the books`, timeoutMs: 20_000 },
    );
  }

  service(name: string): RunningProcess {
    const service = this.services.get(name);
    if (!service) throw new Error(`no service ${name} was started`);
    return service;
  }

  // REST

  async call<T = unknown>(method: string, path: string, body?: unknown, url = this.url): Promise<Answer<T>> {
    const { token } = this.#options;
    const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const answer = await callHttp(`${url}${path}`, method, { json: body, headers, signal: AbortSignal.timeout(60_000) });
    return { status: answer.status, headers: answer.headers, body: answer.body as T };
  }

  /** Creates a stamping observer. `params` are those of the type `stamp`. */
  create(name: string, params: object = {}, more: object = {}): Promise<Answer<ObserverOrProblem>> {
    return this.call("POST", "/api/v1/observers", {
      name,
      type: "stamp",
      params: { file: this.actsFile, ...params },
      ...more,
    });
  }

  /** Creates `count` of them, `<prefix>-0` …, and waits until all are Processing. */
  async createMany(prefix: string, count: number, params: object = {}, more: object = {}): Promise<ObserverView[]> {
    const created: ObserverView[] = [];
    for (let i = 0; i < count; i += 1) {
      const { status, body } = await this.create(`${prefix}-${i}`, params, more);
      expect(status, JSON.stringify(body)).toBe(201);
      created.push(body);
    }
    await this.untilStatus(
      created.map((one) => one.id),
      "Processing",
    );
    return this.observers(created.map((one) => one.id));
  }

  /** As createMany, in batches of a thousand. */
  async createCrowd(prefix: string, count: number, params: object = {}, { type = "stamp" } = {}): Promise<string[]> {
    const all = Array.from({ length: count }, (_, i) => ({
      name: `${prefix}-${i}`,
      type,
      params: { file: this.actsFile, ...params },
    }));
    const ids: string[] = [];
    for (let i = 0; i < count; i += 1_000) {
      const observers = all.slice(i, i + 1_000);
      const { body } = await this.call<BatchResults>("POST", "/api/v1/observers/batch", { observers });
      for (const result of body.results) {
        if (!("observer" in result)) throw new Error(`not created: ${JSON.stringify(result)}`);
        ids.push(result.observer.id);
      }
    }
    await this.untilStatus(ids, "Processing", 60_000);
    return ids;
  }

  async get(ref: string): Promise<ObserverView> {
    const { status, body } = await this.call<ObserverView>("GET", `/api/v1/observers/${ref}`);
    if (status !== 200) throw new Error(`GET ${ref} answered ${status}: ${JSON.stringify(body)}`);
    return body;
  }

  async observers(ids: string[]): Promise<ObserverView[]> {
    const all = new Map((await this.listObservers()).map((one) => [one.id, one]));
    return ids.map((id) => all.get(id) as ObserverView);
  }

  async listObservers(query = ""): Promise<ObserverView[]> {
    const found: ObserverView[] = [];
    let cursor = "";
    do {
      const path = `/api/v1/observers?limit=1000${query}${cursor && `&cursor=${cursor}`}`;
      const { status, body } = await this.call<{ items: ObserverView[]; nextCursor: string | null }>("GET", path);
      if (status !== 200) throw new Error(`GET ${path} answered ${status}: ${JSON.stringify(body)}`);
      found.push(...body.items);
      cursor = body.nextCursor ?? "";
    } while (cursor !== "");
    return found;
  }

  async listServices(query = ""): Promise<ServiceView[]> {
    const { status, body } = await this.call<{ items: ServiceView[] }>("GET", `/api/v1/services${query}`);
    if (status !== 200) throw new Error(`GET services answered ${status}`);
    return body.items;
  }

  async stats(): Promise<Stats> {
    return (await this.call<Stats>("GET", "/api/v1/stats")).body;
  }

  async untilStatus(refs: string[], status: string, timeoutMs = 20_000): Promise<void> {
    await eventually(
      async () => {
        // One row tells how many there are: thousands are only read when there can be enough.
        if (refs.length > 100) {
          const { body } = await this.call<{ total: number }>("GET", `/api/v1/observers?limit=1&status=${status}`);
          expect(body.total).toBeGreaterThanOrEqual(refs.length);
        }
        const all = await this.listObservers();
        const of = new Map(all.flatMap((one) => [[one.id, one.status] as const, [one.name, one.status] as const]));
        const others = refs.filter((ref) => of.get(ref) !== status).map((ref) => `${ref}: ${of.get(ref)}`);
        expect(others).toEqual([]);
      },
      { timeoutMs, what: `status ${status} of ${refs.length} observers` },
    );
  }

  /**
   * Until so many messages wait in the pool's queue and each start that was asked for has been confirmed. Counts alone lag behind: the one that they
   * still tell of may have been taken, and the one that is meant may not have been published yet.
   */
  async untilQueued(count: number, pool = "default"): Promise<void> {
    const starts = "SELECT observer_id FROM commands WHERE kind = 'start'";
    await eventually(async () => expect(await queryRows(this.env.DATABASE_URL ?? "", starts)).toEqual([]));
    await eventually(async () => expect((await this.management.queue(`unacked.work.${pool}`)).ready).toBe(count));
  }

  /** Deletes, waits until it is Deleted, and remembers that it must not act from then on. */
  async remove(ref: string): Promise<void> {
    const { status, body } = await this.call<ObserverView>("DELETE", `/api/v1/observers/${ref}`);
    expect(status, JSON.stringify(body)).toBe(202);
    await this.untilStatus([body.id], "Deleted");
    this.isOver(body.id);
  }

  isOver(id: string): void {
    this.#over.set(id, process.hrtime.bigint());
  }

  /** Deleted by force, or its ack died with the broker: it is enough that it does not act when the invariants are held. */
  mayStartOnceMore(id: string): void {
    this.#over.delete(id);
    this.#mayStartOnceMore.add(id);
  }

  // Acts

  /** All so far, in the order they were written. */
  acts(): Act[] {
    return this.#acts.all();
  }

  /** Drops what is older, once it has been judged: for tests that go on for long. */
  forgetActsBefore(ns: bigint): void {
    this.#acts.forgetBefore(ns);
  }

  /** Observers that acted within the last `withinMs`, by process. */
  actingByPid(withinMs = 300): Map<number, Set<string>> {
    const since = process.hrtime.bigint() - BigInt(withinMs) * 1_000_000n;
    const byPid = new Map<number, Set<string>>();
    for (const act of this.acts()) {
      if (act.monotonicNs < since || act.kind === "stop") continue;
      const set = byPid.get(act.pid) ?? new Set();
      byPid.set(act.pid, set.add(act.observerId));
    }
    return byPid;
  }

  /**
   * The invariants, held against the acts, the queues and the books, until they hold together (they settle within seconds)
   * and, for overlap and resurrection, over everything that ever happened. `pool`: only what is in that pool, for tests
   * that share a system; an act that belongs to no observer at all counts in any. `freshMs`: for observers that act rarely.
   * `maxOverlapMs`: 0 if missing; of the runs of a service that was killed with -9, at least what guarantees.md says of its slots.
   */
  async check(
    options: { maxOverlapMs?: number; maxLateActs?: number; timeoutMs?: number; freshMs?: number; pool?: string } = {},
  ): Promise<void> {
    const { maxLateActs = 0, timeoutMs = 20_000, freshMs, pool } = options;
    const { maxOverlapMs = 0 } = options;
    const killed = { pids: this.#killedPids(), maxOverlapMs: KILLED_KEEPER_OVERLAP_MS + BUSY_MACHINE_MS };
    const judgeActs = await eventually(
      async () => {
        const everywhere = await this.listObservers();
        const all = everywhere.filter((one) => pool === undefined || one.pool === pool);
        const elsewhere = new Set(everywhere.filter((one) => !all.includes(one)).map((one) => one.id));
        const processing = all.filter((one) => one.status === "Processing");
        // Only a stamping observer leaves acts to be judged by; the others count in the books and the queue.
        const running = processing.filter((one) => STAMPING.has(one.type)).map((one) => one.id);
        const over = this.#overAmong(all);
        const judge = () => {
          const nowNs = process.hrtime.bigint();
          const expectations = { running, over, nowNs, maxOverlapMs, killed, maxLateActs, freshMs };
          const acts = this.acts().filter((act) => !elsewhere.has(act.observerId));
          expect(findViolations(acts, expectations).slice(0, 10)).toEqual([]);
        };
        judge();
        const unsettled = all.filter((one) => ["OnDeleting", "Redistributing", "Retrying"].includes(one.status));
        expect(unsettled.map((one) => `${one.name} ${one.status}`)).toEqual([]);
        const services = (await this.listServices()).filter((one) => pool === undefined || one.pool === pool);
        expect(
          services.reduce((sum, one) => sum + one.running, 0),
          "running by the books' services",
        ).toBe(processing.length);
        for (const each of new Set(["default", ...all.map((one) => one.pool)])) {
          if (pool !== undefined && each !== pool) continue;
          const here = all.filter((one) => one.pool === each);
          const queue = await this.management.queue(`unacked.work.${each}`);
          expect({ unacked: queue.unacked, ready: queue.ready }, `the work queue of ${each}`).toEqual({
            unacked: here.filter((one) => one.status === "Processing").length,
            ready: here.filter((one) => one.status === "Created").length,
          });
        }
        // With a pool, others may be saying something just now.
        if (pool === undefined) expect((await this.management.queue("unacked.state")).total, "the state queue").toBe(0);
        return async () => {
          await this.#untilActedAgain(running, freshMs);
          // Whoever acted first may have done so a second ago by then. What was lost stays so; two that overlapped stay among the acts.
          await eventually(judge, { timeoutMs: 5_000, what: "the acts" });
        };
      },
      { timeoutMs, what: "the invariants" },
    );
    await judgeActs();
  }

  /**
   * What has only just begun to go wrong shows in the acts that come next: twice more by everyone. Two acts of observers
   * that act rarely are far apart: each may take as long as `freshMs` allows it.
   */
  async #untilActedAgain(observerIds: string[], freshMs = 0): Promise<void> {
    const sinceNs = process.hrtime.bigint();
    await eventually(
      () => {
        const counts = new Map<string, number>();
        for (let acts = this.acts(), i = acts.length - 1; i >= 0; i -= 1) {
          const { observerId, monotonicNs } = acts[i] as Act;
          // Those of other processes may have been written a moment out of order.
          if (monotonicNs < sinceNs - 1_000_000_000n) break;
          if (monotonicNs > sinceNs) counts.set(observerId, (counts.get(observerId) ?? 0) + 1);
        }
        expect(observerIds.filter((id) => (counts.get(id) ?? 0) < 2)).toEqual([]);
      },
      { timeoutMs: 10_000 + 2 * freshMs, what: "two more acts of every observer" },
    );
  }

  /** Since when each of these that are over must not have acted any more. */
  #overAmong(all: ObserverView[]): Map<string, bigint> {
    const nowNs = process.hrtime.bigint();
    const over = new Map(this.#over);
    for (const id of this.#mayStartOnceMore) over.set(id, nowNs - 200_000_000n);
    for (const one of all)
      if (["Deleted", "Failed", "Completed", "Paused"].includes(one.status) && !over.has(one.id)) over.set(one.id, nowNs);
    return over;
  }

  /**
   * Measures from the acts how long two runs of one observer acted side by side, and prints it. Up to `maxLateActs` acts
   * of a process as it woke do not count.
   */
  reportOverlap(fault: string, observers: ObserverView[], maxLateActs = 0): number {
    const ids = new Set<string>(observers.map((one) => one.id));
    const acts = this.acts().filter((act) => ids.has(act.observerId));
    const overlapMs = longestOverlapMs(acts, maxLateActs);
    const late = maxLateActs === 0 ? "" : ` (late acts of one run: ${mostLateActs(acts)})`;
    console.log(`${fault}: overlap measured: ${Math.round(overlapMs)} ms${late}`);
    return overlapMs;
  }

  #killedPids(): Set<number> {
    return new Set(this.#everyService.filter((service) => service.exit()?.signal === "SIGKILL").map(({ pid }) => pid));
  }

  /** Everything that still runs is killed. */
  async close(): Promise<void> {
    await closeBrowsers();
    const left = [...this.services.values(), ...this.managers].filter((each) => each.exit() === null);
    await Promise.all(left.map((each) => each.kill("SIGKILL")));
  }
}
