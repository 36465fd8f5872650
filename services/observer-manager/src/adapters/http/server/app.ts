import { randomUUID } from "node:crypto";
import type { RequestListener } from "node:http";
import { type Access, Readiness } from "@unacked/contracts";
import type { Tracing } from "@unacked/tracing";
import express, {
  type ErrorRequestHandler,
  type Express,
  type IRouter,
  type Request,
  type RequestHandler,
  type Response,
} from "express";
import type { CallerCheck } from "../../../domain/access/identity.ts";
import type { Log } from "../../../operations/log.ts";
import type { ManagerApi } from "../../../operations/manager-api.ts";
import type { Refusal } from "../../../operations/refusal.ts";
import { apiRoutes } from "../api/api-routes.ts";
import { HttpProblem } from "../api/http-problem.ts";
import { openApiDocument } from "../openapi/document.ts";
import { type BodyRooms, bodyRooms } from "./body-room.ts";
import { eventStream } from "./change-events.ts";
import { allowOrigins, refuseForeignPages } from "./cross-origin.ts";
import { messagesOf } from "./express-messages.ts";
import { Gate } from "./gate.ts";
import { jsonText, sendBytes, sendJson } from "./json-body.ts";
import { refuseForeignHosts } from "./known-hosts.ts";
import { oneAtATime } from "./one-at-a-time.ts";
import { type DescribeError, problemOfError, sendProblem } from "./problem-of-error.ts";
import { type RateLimitSettings, RateLimits } from "./rate-limits.ts";
import { registerPath, registerRoutes } from "./register-routes.ts";
import { requestContext, requestIdOf, traceIdsOf } from "./request-context.ts";
import { type RequestMeter, requestMetrics } from "./request-metrics.ts";
import { requestTracing } from "./request-tracing.ts";
import { securityHeaders } from "./security.ts";
import type { ServerTls } from "./server-tls.ts";
import { registerStatusPage } from "./status-page.ts";

export interface HttpParts {
  api: ManagerApi;
  log: Log;
  /** The version that the OpenAPI document shows. */
  version: string;
  /** The folder of the built status page. */
  pageFolder: string;
  describeError: DescribeError;
  /** The metrics that Prometheus scrapes. */
  metrics: RequestMeter & { contentType: string; render(): Promise<string> };
  access: HttpAccess;
  /** The path below which everything is served, such as `/unacked`; "" means the root. */
  basePath: string;
  /** Undefined means that nothing is traced. */
  tracing?: Tracing | undefined;
  /** The rooms for bodies that are read or handled at one time. Default: parts of this process's memory. */
  rooms?: BodyRooms;
}

/** Who may reach what, and from where. */
export interface HttpAccess extends RateLimitSettings {
  callers: CallerCheck;
  /** Who may read /metrics. */
  metricsAccess: Access;
  /** Host names under which the manager answers without authentication (known-hosts.ts). */
  allowedHosts: readonly string[];
  /** Origins whose pages may call the REST API. */
  corsOrigins: readonly string[];
  /** Addresses and networks whose X-Forwarded-* headers are believed. */
  trustedProxies: readonly string[];
  /** Undefined means plain HTTP. */
  tls: ServerTls | undefined;
}

/** Everything that the manager serves over HTTP, for a server that makes its requests and responses of these classes. */
export function createApp(parts: HttpParts): { listener: RequestListener; messages: ReturnType<typeof messagesOf> } {
  const app = createRouter(parts);
  // A request line that express cannot read as a path ("//?#@!") passes every handler, even the one for errors.
  const listener: RequestListener = (request, response) =>
    app(request as Request, response as Response, () => sendProblem(response as Response, UNREADABLE_PATH, randomUUID()));
  return { listener: oneAtATime(listener), messages: messagesOf(app) };
}

const UNREADABLE_PATH: Refusal = { kind: "problem", code: "malformed-request", detail: "The path cannot be read" };

function createRouter(parts: HttpParts): Express {
  const { api, log, version, pageFolder, describeError, metrics, access, basePath, tracing, rooms = bodyRooms() } = parts;
  const gate = new Gate(access.callers, new RateLimits(access), log);
  const routes = apiRoutes({ ...api, desk: gate });
  const app = express();
  app.disable("x-powered-by").disable("etag").enable("case sensitive routing");
  app.set("trust proxy", [...access.trustedProxies]);
  if (tracing) app.use(`${basePath}/api/v1`, requestTracing(tracing));
  app.use(requestContext(log), requestMetrics(metrics), securityHeaders({ isTls: access.tls !== undefined }));
  // Probes and scrapes do not come through the proxy, and need not know its paths.
  registerProbes(app, gate, parts);
  const site = express.Router({ caseSensitive: true });
  if (basePath !== "") registerProbes(site, gate, parts);
  if (!access.callers.isConfigured) site.use(refuseForeignHosts(access.allowedHosts));
  site.use(allowOrigins(access.corsOrigins), refuseForeignPages(access.corsOrigins));
  const document = sendDocument(() => openApiDocument(routes, version, basePath));
  registerPath(site, gate, { path: "/api/openapi.json", access: "open", handlers: { get: [document] } });
  registerPath(site, gate, { path: "/api/v1/events", access: "viewer", handlers: { get: [eventStream(api.changes)] } });
  registerRoutes(site, gate, routes, log, rooms);
  registerStatusPage(site, gate, { folder: pageFolder, basePath });
  site.use(() => {
    throw new HttpProblem({ code: "not-found" });
  });
  app.use(basePath || "/", site);
  app.use(refuseOutside(basePath));
  app.use(answerError(log, describeError));
  return app;
}

function registerProbes(router: IRouter, gate: Gate, { api, metrics, access }: HttpParts): void {
  registerPath(router, gate, { path: "/healthz", access: "open", handlers: { get: [sayAlive] } });
  registerPath(router, gate, { path: "/readyz", access: "open", handlers: { get: [sayReadiness(api)] } });
  registerPath(router, gate, {
    path: "/metrics",
    access: access.metricsAccess,
    handlers: { get: [sendMetrics(metrics)] },
  });
}

/** The cause is mostly a proxy that removes the path before it passes a request on. */
const refuseOutside = (basePath: string) => (): never => {
  throw new HttpProblem({
    code: "not-found",
    detail: `This manager answers below ${basePath} (BASE_PATH): a proxy in front of it has to keep that path`,
  });
};

const sayAlive: RequestHandler = (_request, response) => {
  response.setHeader("Cache-Control", "no-store");
  sendJson(response, 200, { status: "ok" });
};

const sayReadiness =
  (api: ManagerApi): RequestHandler =>
  async (_request, response) => {
    const readiness = Readiness.parse(await api.readiness());
    response.setHeader("Cache-Control", "no-store");
    sendJson(response, readiness.ready ? 200 : 503, readiness);
  };

const sendMetrics =
  (metrics: HttpParts["metrics"]): RequestHandler =>
  async (_request, response) => {
    response.type(metrics.contentType).send(await metrics.render());
  };

/**
 * Makes the document when it is first asked for, as that takes a good part of a manager's start. It is written once: it is 800 KB, and
 * anybody may ask for it, as often as they like, and leave it unread. All answers share its bytes; as a text it would be copied for each.
 */
function sendDocument(make: () => object): RequestHandler {
  let bytes: Buffer | undefined;
  return (_request, response) => {
    bytes ??= Buffer.from(jsonText(make()));
    sendBytes(response, 200, bytes);
  };
}

/** Four parameters are needed, as express knows an error handler by them. */
const answerError =
  (log: Log, describeError: DescribeError): ErrorRequestHandler =>
  (error: unknown, _request, response, _next) => {
    const requestId = requestIdOf(response);
    const refusal = problemOfError(error, describeError);
    const about = { requestId, ...traceIdsOf(response), ...describeError(error).fields };
    if (refusal.code === "internal-error") log.error(about, "A request failed");
    if (refusal.code === "database-unavailable") log.warn(about, "The database is not available now");
    if (response.headersSent) response.destroy();
    else sendProblem(response, refusal, requestId);
  };
