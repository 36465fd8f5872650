import type { RequestHandler } from "express";
import helmet from "helmet";
import { HttpProblem } from "./http-problem.ts";

/**
 * Nothing but our own files may run, and no page may frame us. No HSTS and no upgrade to https: the manager itself speaks plain HTTP,
 * on loopback or behind a proxy that does TLS.
 */
export const securityHeaders = (): RequestHandler =>
  helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        scriptSrc: ["'self'"],
        styleSrc: ["'self'"],
        imgSrc: ["'self'"],
        connectSrc: ["'self'"],
        baseUri: ["'none'"],
        formAction: ["'none'"],
        frameAncestors: ["'none'"],
      },
    },
    strictTransportSecurity: false,
  });

/**
 * A foreign web page can make a browser send a POST without a body here (a restart) and needs no permission for it. Browsers
 * name the page's origin on every such request; programs name none.
 */
export const refuseForeignPages = (): RequestHandler => (request, _response, next) => {
  const origin = request.get("origin");
  const changes = request.method !== "GET" && request.method !== "HEAD" && request.method !== "OPTIONS";
  if (!changes || origin === undefined || hostOf(origin) === request.get("host")) return next();
  throw new HttpProblem({ code: "cross-origin" });
};

function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}
