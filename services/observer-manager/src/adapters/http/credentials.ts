import type { Request } from "express";
import { readSessionCookie } from "./session-cookie.ts";

/** What a request brings to be known by. A header counts more than a cookie. */
export type Credentials =
  | { kind: "none" }
  | { kind: "malformed" }
  /** `cookie`: the browser sends it by itself, whoever made it send the request. */
  | { kind: "token"; token: string; from: "header" | "cookie" };

/** RFC 6750, 2.1: `Authorization: Bearer <b64token>`. */
const BEARER = /^Bearer +(?<token>[A-Za-z0-9._~+/-]+=*) *$/i;

export function credentialsOf(request: Request): Credentials {
  const header = request.get("authorization");
  if (header !== undefined) {
    const token = BEARER.exec(header)?.groups?.["token"];
    return token === undefined ? { kind: "malformed" } : { kind: "token", token, from: "header" };
  }
  const token = readSessionCookie(request);
  return token === undefined ? { kind: "none" } : { kind: "token", token, from: "cookie" };
}
