import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { ConnectionStatus } from "@unacked/broker";
import { errorText } from "../error-text.ts";
import type { Log } from "../log.ts";

/** What readiness depends on. */
export interface HealthView {
  readonly consumer: ConnectionStatus;
  readonly publisher: ConnectionStatus;
  readonly consuming: boolean;
  /**
   * Whether it takes nothing for now, as there is no memory or no worker for more, or others are to have what is shed; what runs goes
   * on.
   */
  readonly isPaused: boolean;
  /** How many more observers there is room for. */
  readonly room: number;
  readonly leaseHeld: boolean;
  readonly draining: boolean;
  /** Whether it takes nothing more, but goes on with what it runs, until it is uncordoned. */
  readonly cordoned: boolean;
  readonly running: number;
  readonly workerCount: number;
  /** How many events the broker has not confirmed yet. */
  readonly eventsWaiting: number;
  readonly tasksRunning: number;
  readonly taskWorkers: number;
}

/** The metrics that Prometheus scrapes. */
export interface Scraped {
  readonly contentType: string;
  render(): Promise<string>;
}

interface Answer {
  status: number;
  contentType: string;
  text: string;
}

const json = (status: number, body: object): Answer => ({
  status,
  contentType: "application/json",
  text: `${JSON.stringify(body)}\n`,
});

/** Whether it can take a start, run it and report it, now or as soon as there is room. */
export function isReady({ consumer, publisher, consuming, isPaused, leaseHeld, draining }: HealthView): boolean {
  return consumer.up && (consuming || isPaused) && leaseHeld && publisher.up && !publisher.blocked && !draining;
}

/** The health of one of the services of this process. */
export interface HealthOfPool {
  readonly pool: string;
  readonly view: HealthView;
}

function readinessOf(view: HealthView) {
  const { consumer, publisher, consuming, isPaused: paused, leaseHeld, draining, cordoned, ...counts } = view;
  return { ready: isReady(view), draining, cordoned, consuming, paused, leaseHeld, consumer, publisher, ...counts };
}

/** With several services each has to be ready. */
function readiness(views: readonly HealthOfPool[]): Answer {
  const pools = views.map(({ pool, view }) => [pool, readinessOf(view)] as const);
  const ready = pools.every(([, one]) => one.ready);
  const [only, ...more] = pools;
  return json(
    ready ? 200 : 503,
    only !== undefined && more.length === 0 ? only[1] : { ready, pools: Object.fromEntries(pools) },
  );
}

/** GET /healthz: the event loop turns. GET /readyz: see `isReady`. GET /metrics: for Prometheus. */
export class HealthServer {
  readonly #server: Server;
  readonly #log: Log;

  constructor(views: () => HealthOfPool[], metrics: Scraped, log: Log) {
    this.#log = log;
    this.#server = createServer((request, response) => {
      answer(request, views, metrics).then(
        (each) => send(request, response, each),
        (error: unknown) => {
          log.error({ event: "health-answer-failed", error: errorText(error) }, "a health endpoint could not answer");
          send(request, response, json(500, { code: "internal-error" }));
        },
      );
    });
  }

  /** Resolves when it listens. Rejects if the address cannot be used. */
  async listen(host: string, port: number): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(port, host, () => resolve());
    });
    this.#server.on("error", (error) =>
      this.#log.error({ event: "health-server-error", error: error.message }, "the health endpoints failed"),
    );
    const { address, port: actual, family } = this.#server.address() as AddressInfo;
    const url = `http://${family === "IPv6" ? `[${address}]` : address}:${actual}`;
    this.#log.info({ event: "listening", url }, `health endpoints on ${url}`);
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

const PATHS = ["/healthz", "/readyz", "/metrics"];

async function answer(
  { method, url = "" }: IncomingMessage,
  views: () => HealthOfPool[],
  metrics: Scraped,
): Promise<Answer> {
  const path = url.split("?", 1)[0] ?? "";
  if (!PATHS.includes(path)) return json(404, { code: "not-found" });
  if (method !== "GET" && method !== "HEAD") return json(405, { code: "method-not-allowed" });
  if (path === "/readyz") return readiness(views());
  if (path === "/healthz") return json(200, { alive: true, uptimeS: Math.round(process.uptime()) });
  return { status: 200, contentType: metrics.contentType, text: await metrics.render() };
}

function send(request: IncomingMessage, response: ServerResponse, { status, contentType, text }: Answer): void {
  const headers: Record<string, string> = { "content-type": contentType, "cache-control": "no-store" };
  if (status === 405) headers.allow = "GET, HEAD";
  response.writeHead(status, headers).end(request.method === "HEAD" ? undefined : text);
}
