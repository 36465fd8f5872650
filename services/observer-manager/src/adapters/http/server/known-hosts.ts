import { isIP } from "node:net";
import type { RequestHandler } from "express";
import { HttpProblem } from "../api/http-problem.ts";

/**
 * Where nobody is asked who they are, a foreign web page must not get in by giving its own host name our address (DNS
 * rebinding): to the browser it would be its own origin. An address, localhost, and a name without a dot cannot be such a name.
 */
export const refuseForeignHosts =
  (allowed: readonly string[]): RequestHandler =>
  (request, _response, next) => {
    const { hostname } = request;
    if (hostname === undefined || isOwn(hostname.toLowerCase()) || allowed.includes(hostname.toLowerCase())) return next();
    throw new HttpProblem({ code: "wrong-host" });
  };

const isOwn = (name: string): boolean =>
  isIP(name.replace(/^\[|\]$/g, "")) !== 0 || !name.includes(".") || name.endsWith(".localhost");
