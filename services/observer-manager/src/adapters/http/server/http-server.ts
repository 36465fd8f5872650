import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createApp, type HttpParts } from "./app.ts";
import { OpenConnections } from "./open-connections.ts";
import { createTlsServer } from "./server-tls.ts";

export interface HttpServerSettings extends HttpParts {
  /** Default 127.0.0.1. */
  host?: string;
  /** 0 takes any free one. */
  port: number;
  /**
   * A connection on which nothing moves for this long is closed, such as one whose client leaves its answer unread. Default 120 s.
   */
  stalledMs?: number;
  /** A connection beyond this number is closed as soon as it opens. Default 50,000. */
  maxConnections?: number;
}

export interface HttpServer {
  /** http://host:port (https:// with TLS), with the real port and the base path. */
  url: string;
  /** Takes no more connections, ends the streams, lets running requests finish for up to 5 s. Idempotent. */
  close(): Promise<void>;
}

/**
 * The time for the whole request to arrive. An answer, such as a stream of events, may take any time. The time in which it has arrived, but
 * this process has not read it, counts, too: with 10 s, when two thousand came at once, those whose turn was later were cut off.
 */
const REQUEST_TIMEOUT_MS = 60_000;
/**
 * Longer than proxies (nginx and AWS's load balancers: 60 s by default) and busy clients keep an unused connection: a client that sends
 * just as it is closed here finds it reset, and cannot know whether its request was done.
 */
const KEEP_ALIVE_TIMEOUT_MS = 65_000;
const CHECK_INTERVAL_MS = 5_000;
/**
 * How many connections may wait to be accepted. Beyond Node's default of 511 the kernel lets clients try again a second later or, taking
 * them for a flood, resets them. The upper bound is net.core.somaxconn: 4,096 since Linux 5.4.
 */
const BACKLOG = 4_096;
const CLOSE_GRACE_MS = 5_000;
/**
 * Twice as long as any call waits (`wait=60s`), and eight times the pause of an event stream. Long answers go out in parts,
 * each of which counts as movement.
 */
const STALLED_MS = 120_000;
/**
 * Room for all calls that may wait at one manager (docs/limits.md: 10,000 each for tasks to take, for ends of tasks, and of flows), and for
 * others.
 */
const MAX_CONNECTIONS = 50_000;

/** Listens. Rejects when the port is in use (EADDRINUSE) or not allowed. */
export async function startHttpServer(settings: HttpServerSettings): Promise<HttpServer> {
  const { server, stopFollowing } = createListener(settings);
  server.timeout = settings.stalledMs ?? STALLED_MS;
  server.maxConnections = settings.maxConnections ?? MAX_CONNECTIONS;
  const connections = new OpenConnections(server);
  const host = settings.host ?? "127.0.0.1";
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ port: settings.port, host, backlog: BACKLOG }, resolve);
  });
  const scheme = settings.access.tls === undefined ? "http" : "https";
  let closed: Promise<void> | undefined;
  const close = () => {
    stopFollowing();
    return closeServer(server, connections);
  };
  return { url: `${urlOf(scheme, server, host)}${settings.basePath}`, close: () => (closed ??= close()) };
}

function createListener(settings: HttpServerSettings): { server: Server; stopFollowing: () => void } {
  const { access, log } = settings;
  const { listener, messages } = createApp(settings);
  const options = {
    ...messages,
    headersTimeout: REQUEST_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    connectionsCheckingInterval: CHECK_INTERVAL_MS,
  };
  if (access.tls !== undefined) return createTlsServer(options, listener, access.tls, log);
  return { server: createServer(options, listener), stopFollowing: () => undefined };
}

function urlOf(scheme: "http" | "https", server: Server, host: string): string {
  const { port } = server.address() as AddressInfo;
  return `${scheme}://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/**
 * The streams end because the hub of changes is closed before or beside this. What is left after the grace period is cut.
 */
async function closeServer(server: Server, connections: OpenConnections): Promise<void> {
  const grace = setTimeout(() => connections.destroyAll(), CLOSE_GRACE_MS);
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    connections.closeWhenIdle();
  });
  clearTimeout(grace);
}
