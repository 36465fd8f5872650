import cors from "cors";
import type { Request, RequestHandler } from "express";
import { HttpProblem } from "../api/http-problem.ts";

const READING = new Set(["GET", "HEAD", "OPTIONS"]);

export const changesSomething = (request: Request): boolean => !READING.has(request.method);

/**
 * A foreign web page can make a browser send a POST without a body here (a restart), and needs no permission for that. Browsers
 * say in every such request where it comes from; other programs do not. Pages of named origins may send them, with a token of
 * their own.
 */
export const refuseForeignPages =
  (origins: readonly string[]): RequestHandler =>
  (request, _response, next) => {
    const origin = request.get("origin");
    const isNamed = origin !== undefined && origins.includes(origin);
    if (!changesSomething(request) || isNamed || comesFrom(request) !== "elsewhere") return next();
    throw new HttpProblem({ code: "cross-origin" });
  };

/**
 * Whether the browser says that the request is our own page's. A cookie without that was not sent by our page on purpose.
 */
export const isProvenOwn = (request: Request): boolean => comesFrom(request) === "own-page";

/**
 * Fetch Metadata comes first: unlike Host it is still true behind a proxy that calls us by another name. No page can write either
 * header.
 */
function comesFrom(request: Request): "own-page" | "elsewhere" | "unsaid" {
  const site = request.get("sec-fetch-site");
  if (site !== undefined) return site === "same-origin" ? "own-page" : site === "none" ? "unsaid" : "elsewhere";
  const origin = request.get("origin");
  if (origin === undefined) return "unsaid";
  return hostOf(origin) === request.host ? "own-page" : "elsewhere";
}

function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}

/** Lets pages of these origins call the REST API. Never with our cookie: they send a token of their own. */
export function allowOrigins(origins: readonly string[]): RequestHandler {
  const answer = cors({
    origin: [...origins],
    methods: ["GET", "HEAD", "POST", "PATCH", "PUT", "DELETE"],
    allowedHeaders: ["Authorization", "Content-Type", "If-Match", "Last-Event-ID", "Prefer", "X-Request-Id"],
    exposedHeaders: ["ETag", "Location", "Preference-Applied", "Retry-After", "Unacked-Left-Out", "X-Request-Id"],
    maxAge: 600,
    preflightContinue: true, // the path itself answers OPTIONS, with its methods
  });
  return (request, response, next) => {
    const origin = request.get("origin");
    if (origin === undefined || !origins.includes(origin)) return next();
    answer(request, response, next);
  };
}
