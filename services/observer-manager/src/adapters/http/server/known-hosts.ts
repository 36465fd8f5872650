import { isIP } from "node:net";
import type { Request, RequestHandler } from "express";
import { HttpProblem } from "../api/http-problem.ts";

/**
 * Without authentication, a foreign web page must not get in by giving its own host name our address (DNS rebinding), as to the
 * browser we would be its own origin. An address, localhost, and a name without a dot cannot be such a name.
 */
export const refuseForeignHosts =
  (allowed: readonly string[]): RequestHandler =>
  (request, _response, next) => {
    const foreign = namesOf(request).find((name) => !isOwn(name) && !allowed.includes(name));
    if (foreign === undefined) return next();
    throw new HttpProblem({ code: "wrong-host", detail: `${foreign} is not a name of this manager` });
  };

/**
 * Every name by which it was asked. A script can write X-Forwarded-Host to its own page's origin, but never Host. So neither replaces the
 * other, nor does a value that the proxy was sent replace the one that it has added.
 */
function namesOf(request: Request): string[] {
  const isTrusted = request.app.get("trust proxy fn") as (address: string | undefined, hop: number) => boolean;
  const forwarded = isTrusted(request.socket.remoteAddress, 0) ? request.get("x-forwarded-host") : undefined;
  return [request.get("host") ?? "", ...(forwarded ?? "").split(",")].map((host) =>
    host.trim().toLowerCase().replace(/:\d*$/, ""),
  );
}

const isOwn = (name: string): boolean =>
  isIP(name.replace(/^\[|\]$/g, "")) !== 0 || !name.includes(".") || name.endsWith(".localhost");
