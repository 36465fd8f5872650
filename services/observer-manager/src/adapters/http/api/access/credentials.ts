import { parse, serialize } from "cookie";
import type { Request } from "express";

/**
 * The credentials of a request. A bearer token in the header wins over a cookie; a header of another scheme does not, as browsers send on
 * what a proxy before the manager has asked for (Basic).
 */
export type Credentials =
  | { kind: "none" }
  | { kind: "malformed" }
  /** `cookie` means that the browser sends it by itself, also with a request that another site made it send. */
  | { kind: "token"; token: string; from: "header" | "cookie" };

/** RFC 6750, 2.1: `Authorization: Bearer <b64token>`. */
const BEARER = /^Bearer +(?<token>[A-Za-z0-9._~+/-]+=*) *$/i;
const OF_BEARER = /^Bearer\b/i;

export function credentialsOf(request: Request): Credentials {
  const header = request.get("authorization");
  const cookie = readSessionCookie(request);
  const isCookies = header === undefined || !OF_BEARER.test(header);
  if (isCookies && cookie !== undefined) return { kind: "token", token: cookie, from: "cookie" };
  if (header === undefined) return { kind: "none" };
  const token = BEARER.exec(header)?.groups?.["token"];
  return token === undefined ? { kind: "malformed" } : { kind: "token", token, from: "header" };
}

/** A working day: whoever forgets to sign out is signed out by tomorrow. */
export const SESSION_S = 12 * 3_600;

/**
 * The page's session: the token itself, in a cookie that no script can read and that no foreign page can make a browser send.
 * So any manager accepts it, without a key or a table that they would have to share, and it ends with the token. Over TLS its name
 * begins with `__Host-`, which keeps browsers from taking it from another host or over a plain connection. Below a base path it goes
 * there alone, so that no other program of the host is sent it; browsers then know only `__Secure-`, against plain connections.
 */
export function sessionCookie(token: string, { isSecure, basePath, maxAgeS }: CookiePlace & { maxAgeS: number }): string {
  const path = basePath || "/";
  const rules = { httpOnly: true, sameSite: "strict", path, secure: isSecure, maxAge: maxAgeS } as const;
  return serialize(nameOf({ isSecure, basePath }), token, rules);
}

export const endedSessionCookie = ({ isSecure, basePath }: CookiePlace): string =>
  sessionCookie("", { isSecure, basePath, maxAgeS: 0 });

/** Where the cookie is used, from the request that it comes with. */
interface CookiePlace {
  isSecure: boolean;
  basePath: string;
}

export function readSessionCookie(request: Request): string | undefined {
  const token = parse(request.get("cookie") ?? "")[nameOf({ isSecure: request.secure, basePath: request.baseUrl })];
  return token === "" ? undefined : token;
}

const nameOf = ({ isSecure, basePath }: CookiePlace): string =>
  !isSecure ? "unacked-session" : basePath === "" ? "__Host-unacked-session" : "__Secure-unacked-session";
