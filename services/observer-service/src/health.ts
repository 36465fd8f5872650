import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { ConnectionStatus } from "@unacked/broker";
import type { Log } from "./log.ts";

/** What readiness is decided by. */
export interface HealthView {
  readonly consumer: ConnectionStatus;
  readonly publisher: ConnectionStatus;
  readonly consuming: boolean;
  readonly leaseHeld: boolean;
  readonly draining: boolean;
  readonly running: number;
  readonly workerCount: number;
  /** Events that the broker has not confirmed yet. */
  readonly eventsWaiting: number;
}

type Answer = { status: number; body: Record<string, unknown> };

/** Ready: able to take a start, run it and tell of it. */
export function readiness(view: HealthView): Answer {
  const { consumer, publisher, consuming, leaseHeld, draining, ...counts } = view;
  const ready = consumer.up && consuming && leaseHeld && publisher.up && !publisher.blocked && !draining;
  const body = { ready, draining, consuming, leaseHeld, consumer, publisher, ...counts };
  return { status: ready ? 200 : 503, body };
}

/** GET /healthz: the event loop turns. GET /readyz: see `readiness`. */
export class HealthServer {
  readonly #server: Server;
  readonly #log: Log;

  constructor(view: () => HealthView, log: Log) {
    this.#log = log;
    this.#server = createServer((request, response) => {
      const { status, body } = answer(request.method ?? "", request.url ?? "", view);
      const headers: Record<string, string> = { "content-type": "application/json", "cache-control": "no-store" };
      if (status === 405) headers.allow = "GET, HEAD";
      response.writeHead(status, headers).end(request.method === "HEAD" ? undefined : `${JSON.stringify(body)}\n`);
    });
  }

  /** Resolves when it listens; rejects when the address cannot be had. */
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

function answer(method: string, url: string, view: () => HealthView): Answer {
  const path = url.split("?", 1)[0];
  if (path !== "/healthz" && path !== "/readyz") return { status: 404, body: { code: "not-found" } };
  if (method !== "GET" && method !== "HEAD") return { status: 405, body: { code: "method-not-allowed" } };
  if (path === "/readyz") return readiness(view());
  return { status: 200, body: { alive: true, uptimeS: Math.round(process.uptime()) } };
}
