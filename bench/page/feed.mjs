import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join } from "node:path";
import { LISTED_FIELDS } from "../../libs/contracts/dist/index.js";
import { STATUSES_OF_A_LIFE, viewOf } from "./made-up-observer.mjs";

const TYPES = /** @type {Record<string, string>} */ ({
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
  ".html": "text/html",
});
const EVERY_MS = 25;
/** As of a manager that asks nobody who they are. */
const ANYBODY = { name: "anonymous", role: "admin", authentication: "anonymous", expiresAt: null, needs: {} };

/**
 * Stands in for a manager with `rows` observers: the built page, the calls that it makes, and the stream.
 *
 * @param {{ dist: string, rows: number }} options
 */
export async function startFeed({ dist, rows }) {
  const views = Array.from({ length: rows }, (_, index) => viewOf(index));
  /** @type {Set<import("node:http").ServerResponse>} */
  const streams = new Set();
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://feed");
    if (pathname === "/api/v1/events") {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write("event: ready\nid: 1\ndata: {}\n\n");
      streams.add(response);
      request.on("close", () => streams.delete(response));
    } else if (pathname.startsWith("/api/")) {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify(answerOf(pathname, searchParams)));
    } else sendFile(response, pathname);
  });

  /** @param {string} pathname @param {URLSearchParams} query */
  function answerOf(pathname, query) {
    if (pathname === "/api/v1/observer-columns") return columnsOf(query);
    if (pathname === "/api/v1/session") return ANYBODY;
    return pathname === "/api/v1/stats" ? statsOf(rows) : { items: [], total: 0 };
  }

  /** @param {URLSearchParams} query */
  function columnsOf(query) {
    const [from, limit] = [Number(query.get("cursor")), Number(query.get("limit"))];
    const isOldest = query.get("sort") === "oldest";
    const page = isOldest
      ? views.slice(from, from + limit)
      : views.slice(Math.max(0, rows - from - limit), rows - from).reverse();
    const services = [...new Map(page.map(({ service }) => [service.id, service])).values()];
    const places = new Map(services.map(({ id }, place) => [id, place]));
    const columns = {
      ...Object.fromEntries(LISTED_FIELDS.map((name) => [name, page.map((view) => view[name])])),
      service: page.map(({ service }) => places.get(service.id)),
    };
    return { columns, services, total: rows, nextCursor: from + limit < rows ? String(from + limit) : null };
  }

  /** @param {import("node:http").ServerResponse} response @param {string} pathname */
  function sendFile(response, pathname) {
    const file = join(dist, extname(pathname) === "" ? "index.html" : pathname);
    response.statusCode = existsSync(file) ? 200 : 404;
    response.setHeader("content-type", TYPES[extname(file)] ?? "text/plain");
    response.end(existsSync(file) ? readFileSync(file) : "");
  }

  /** Changes `rate` observers a second, whichever; resolves to how many. @param {{ rate: number, seconds: number }} options */
  async function change({ rate, seconds }) {
    const startedAt = performance.now();
    for (let sent = 0; ; ) {
      const passedS = (performance.now() - startedAt) / 1_000;
      let text = "";
      for (; sent < passedS * rate; sent += 1)
        text += `event: observer\nid: ${sent + 2}\ndata: ${JSON.stringify(changed())}\n\n`;
      for (const stream of streams) stream.write(text);
      if (passedS >= seconds) return sent;
      await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
    }
  }

  function changed() {
    const view = views[Math.floor(Math.random() * rows)] ?? viewOf(0);
    view.status = STATUSES_OF_A_LIFE[Math.floor(Math.random() * STATUSES_OF_A_LIFE.length)] ?? "Processing";
    view.attempts = 1 + Math.floor(Math.random() * 4);
    view.modifiedAt = new Date().toISOString();
    return view;
  }

  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${port}`, change, close };
}

/** @param {number} rows */
function statsOf(rows) {
  const others = {
    Created: 0,
    Retrying: 0,
    Redistributing: 0,
    OnDeleting: 0,
    Paused: 0,
    Scheduled: 0,
    Deleted: 0,
    Failed: 0,
    Completed: 0,
  };
  const byStatus = { Processing: rows, ...others };
  return {
    observers: { total: rows, byStatus, byType: [{ type: "price-watch", total: rows, byStatus }] },
    workers: { total: rows, free: 0, byPool: [] },
    survivesLargestService: true,
    warnings: [],
    queues: [],
    stateQueueLag: 0,
    oldestWaiting: null,
  };
}
