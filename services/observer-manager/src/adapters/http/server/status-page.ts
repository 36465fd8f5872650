import { extname, join } from "node:path";
import express, { type Express, type RequestHandler } from "express";
import { HttpProblem } from "../api/http-problem.ts";
import type { Gate } from "./gate.ts";
import { registerPath } from "./register-routes.ts";
import { allowPicturesInStyles } from "./security.ts";

/** One document for all: the page looks at its address for what to show (services/status-page/src/shell/route.ts). */
const PAGES = [
  "/",
  "/observers",
  "/observers/:ref",
  "/tasks",
  "/tasks/:taskId",
  "/flows",
  "/flows/:flowId",
  "/schedules",
  "/schedules/:scheduleId",
  "/timers",
  "/audit",
  "/work",
  "/work/:workId",
  "/services",
  "/errors",
];

/**
 * Serves the status page and the API's documentation: to everybody, as they hold nothing; what the page shows it asks of REST.
 * The browser asks for a document each time; what it names has a digest in its name and never changes.
 */
export function registerStatusPage(app: Express, gate: Gate, folder: string): void {
  const open = (path: string, handlers: RequestHandler[]) =>
    registerPath(app, gate, { path, access: "open", handlers: { get: handlers } });
  for (const path of PAGES) open(path, [sendDocument(folder, "index.html")]);
  open("/api/docs", [allowPicturesInStyles(), sendDocument(folder, "api-docs.html")]);
  const once = { index: false, redirect: false } as const;
  app.use(
    "/assets",
    preferCompressed,
    express.static(join(folder, "assets"), { ...once, ...FOR_EVER, setHeaders: describe }),
  );
  app.use(express.static(folder, { ...once, setHeaders: (response) => response.setHeader("Cache-Control", "no-cache") }));
}

const FOR_EVER = { immutable: true, maxAge: "365d" };

const sendDocument =
  (folder: string, file: string): RequestHandler =>
  (_request, response, next) => {
    response.setHeader("Cache-Control", "no-cache");
    response.sendFile(file, { root: folder, cacheControl: false }, (error) => {
      if (error === undefined || response.headersSent) return;
      next(new HttpProblem({ code: "not-found", detail: "The status page is not built: npm run build" }));
    });
  };

/** The build has put a `.gz` beside each. */
const preferCompressed: RequestHandler = (request, response, next) => {
  response.vary("Accept-Encoding");
  if (request.acceptsEncodings("gzip") && extname(request.path) in TYPES) request.url = `${request.path}.gz`;
  next();
};

const TYPES: Record<string, string> = { ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8" };

function describe(response: { setHeader(name: string, value: string): unknown }, file: string): void {
  const type = TYPES[extname(file.replace(/\.gz$/, ""))];
  if (!file.endsWith(".gz") || type === undefined) return;
  response.setHeader("Content-Encoding", "gzip");
  response.setHeader("Content-Type", type);
}
