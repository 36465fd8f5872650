import { isDeepStrictEqual } from "node:util";
import { type Access, type Role, roleReaches } from "@unacked/contracts";
import type { Request, RequestHandler, Response } from "express";
import { ANONYMOUS, type CallerCheck, type Identity } from "../../../domain/access/identity.ts";
import type { Log } from "../../../operations/log.ts";
import type { Refusal } from "../../../operations/refusal.ts";
import { credentialsOf } from "../api/access/credentials.ts";
import { HttpProblem } from "../api/http-problem.ts";
import { callerOf, setCaller } from "./caller.ts";
import { changesSomething, isProvenOwn } from "./cross-origin.ts";
import type { RateLimits } from "./rate-limits.ts";

/** The refused caller, as far as they are known. */
interface Refused {
  address: string;
  name?: string;
  /** Whether the token was in the header: cookies, and what a proxy has asked for, are sent by a browser by itself. */
  isBearer: boolean;
}

/** Decides before every call: who asks, whether they ask too often, and whether they may. No body has been read by then. */
export class Gate {
  readonly #callers: CallerCheck;
  readonly #limits: RateLimits;
  readonly #log: Log;

  constructor(callers: CallerCheck, limits: RateLimits, log: Log) {
    this.#callers = callers;
    this.#limits = limits;
    this.#log = log;
  }

  /** The handlers before those of a call. */
  guard(access: Access): RequestHandler[] {
    if (access === "open") return [];
    const know: RequestHandler = async (request, response, next) => {
      await this.#know(request, response);
      next();
    };
    const admit: RequestHandler = (request, response, next) => {
      this.#refuseBelow(access, callerOf(response).identity, request.ip ?? "");
      next();
    };
    return [know, ...this.#limits.perCaller, admit];
  }

  /** Whose token it is. Wrong tokens, and those without a role, are counted by the address that they came from. */
  async judge(token: string, address: string, isBearer = true): Promise<Identity | Refusal> {
    if (!this.#callers.isConfigured) return ANONYMOUS;
    const verdict = await this.#callers.identify(token);
    switch (verdict.kind) {
      case "known":
        return verdict.identity;
      case "unavailable":
        return { kind: "problem", code: "identity-provider-unavailable" };
      case "no-role":
        return this.#refuse("forbidden", verdict.why, { address, isBearer, name: verdict.name });
      case "refused":
        return this.#refuse("unauthorized", verdict.why, { address, isBearer });
      default:
        return verdict satisfies never;
    }
  }

  /** A page whose session is over must be told to sign in, whatever others at that address did. */
  async #refuse(code: "unauthorized" | "forbidden", why: string, { isBearer, ...who }: Refused): Promise<Refusal> {
    const retryAfterS = await this.#limits.countFailure(who.address);
    if (retryAfterS === undefined) this.#log.warn({ event: "caller-refused", ...who, why }, "a caller was refused");
    else if (isBearer) return { kind: "problem", code: "too-many-requests", retryAfterS };
    return { kind: "problem", code, detail: why };
  }

  #refuseBelow(needed: Role, { name, role }: Identity, address: string): void {
    if (roleReaches(role, needed)) return;
    const why = `It needs the role ${needed}, and ${name} is ${role}`;
    this.#log.warn({ event: "caller-refused", address, name, why }, "a caller was refused");
    throw new HttpProblem({ code: "forbidden", detail: why, neededRole: needed });
  }

  async #know(request: Request, response: Response): Promise<void> {
    const identity = await this.#identify(request);
    if ("kind" in identity) throw new HttpProblem(identity);
    setCaller(response, { identity, isStillWelcome: () => this.#isWelcome(request, identity) });
  }

  async #identify(request: Request): Promise<Identity | Refusal> {
    if (!this.#callers.isConfigured) return ANONYMOUS;
    const credentials = credentialsOf(request);
    if (credentials.kind === "none") return { kind: "problem", code: "unauthorized" };
    if (credentials.kind === "malformed")
      return this.#refuse("unauthorized", "The Authorization header must be: Bearer TOKEN", {
        address: request.ip ?? "",
        isBearer: false,
      });
    if (credentials.from === "cookie" && changesSomething(request) && !isProvenOwn(request))
      return { kind: "problem", code: "cross-origin" };
    return this.judge(credentials.token, request.ip ?? "", credentials.from === "header");
  }

  /** Asked again and again while an answer lasts, so it counts against nobody. */
  async #isWelcome(request: Request, before: Identity): Promise<boolean> {
    const credentials = credentialsOf(request);
    if (!this.#callers.isConfigured || credentials.kind !== "token") return !this.#callers.isConfigured;
    const verdict = await this.#callers.identify(credentials.token);
    // While it cannot be decided, a caller who was welcome stays.
    if (verdict.kind !== "known") return verdict.kind === "unavailable";
    const { role, share } = verdict.identity;
    return roleReaches(role, before.role) && isDeepStrictEqual(share, before.share);
  }
}
