import { readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import express, { type IRouter, type RequestHandler } from "express";
import { HttpProblem } from "../api/http-problem.ts";
import type { Gate } from "./gate.ts";
import { registerPath } from "./register-routes.ts";
import { allowPicturesInStyles } from "./security.ts";

/** One document serves all: the page looks at its address for what to show (services/status-page/src/shell/route.ts). */
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
 * Serves the status page and the API's documentation to everybody, as they hold no data: the page asks the REST API for what
 * it shows. The browser asks for a document each time; the files that it names have a digest in their names and never change.
 */
export function registerStatusPage(router: IRouter, gate: Gate, { folder, basePath }: BuiltPage): void {
  const open = (path: string, handlers: RequestHandler[]) =>
    registerPath(router, gate, { path, access: "open", handlers: { get: handlers } });
  for (const path of PAGES) open(path, [sendDocument(join(folder, "index.html"), basePath)]);
  open("/api/docs", [allowPicturesInStyles(), sendDocument(join(folder, "api-docs.html"), basePath)]);
  const once = { index: false, redirect: false } as const;
  router.use(
    "/assets",
    preferCompressed,
    express.static(join(folder, "assets"), { ...once, ...FOR_EVER, setHeaders: describe }),
  );
  router.use(express.static(folder, { ...once, setHeaders: (response) => response.setHeader("Cache-Control", "no-cache") }));
}

interface BuiltPage {
  folder: string;
  /** The path below which it is served; "" means the root. */
  basePath: string;
}

const FOR_EVER = { immutable: true, maxAge: "365d" };

/** The built page names its files relative to its root (`./assets/…`), so the same build works below any path. */
const sendDocument =
  (file: string, basePath: string): RequestHandler =>
  async (_request, response) => {
    const document = await readFile(file, "utf8").catch(() => {
      throw new HttpProblem({ code: "not-found", detail: "The status page is not built: npm run build" });
    });
    response.setHeader("Cache-Control", "no-cache");
    response.type("html").send(document.replaceAll(/(?<= (?:href|src)=")\.(?=\/)/g, basePath));
  };

/** The build has put a `.gz` beside each file. */
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
