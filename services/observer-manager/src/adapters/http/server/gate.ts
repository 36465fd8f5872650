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

/** Before every call: who asks, are they not too many, and may they. Nothing of a body has been read by then. */
export class Gate {
  readonly #callers: CallerCheck;
  readonly #limits: RateLimits;
  readonly #log: Log;

  constructor(callers: CallerCheck, limits: RateLimits, log: Log) {
    this.#callers = callers;
    this.#limits = limits;
    this.#log = log;
  }

  /** What stands before the handlers of a call. */
  guard(access: Access): RequestHandler[] {
    if (access === "open") return [];
    const know: RequestHandler = async (request, response, next) => {
      await this.#know(request, response);
      next();
    };
    const admit: RequestHandler = (_request, response, next) => {
      refuseBelow(access, callerOf(response).identity);
      next();
    };
    return [know, ...this.#limits.perCaller, admit];
  }

  /** Whose token it is. Wrong ones, and those without a role, are counted by the address that they came from. */
  async judge(token: string, address: string): Promise<Identity | Refusal> {
    if (!this.#callers.isConfigured) return ANONYMOUS;
    const verdict = await this.#callers.identify(token);
    switch (verdict.kind) {
      case "known":
        return verdict.identity;
      case "unavailable":
        return { kind: "problem", code: "identity-provider-unavailable" };
      case "no-role":
        return this.#refuse("forbidden", address, verdict.why, { name: verdict.name });
      case "refused":
        return this.#refuse("unauthorized", address, verdict.why);
      default:
        return verdict satisfies never;
    }
  }

  async #refuse(
    code: "unauthorized" | "forbidden",
    address: string,
    why: string,
    who: { name?: string } = {},
  ): Promise<Refusal> {
    const retryAfterS = await this.#limits.countFailure(address);
    if (retryAfterS !== undefined) return { kind: "problem", code: "too-many-requests", retryAfterS };
    this.#log.warn({ event: "caller-refused", address, ...who, why }, "a caller was refused");
    return { kind: "problem", code, detail: why };
  }

  async #know(request: Request, response: Response): Promise<void> {
    const identity = await this.#identify(request);
    if ("kind" in identity) throw new HttpProblem(identity);
    setCaller(response, { identity, isStillWelcome: () => this.#isWelcome(request, identity.role) });
  }

  async #identify(request: Request): Promise<Identity | Refusal> {
    if (!this.#callers.isConfigured) return ANONYMOUS;
    const credentials = credentialsOf(request);
    if (credentials.kind === "none") return { kind: "problem", code: "unauthorized" };
    if (credentials.kind === "malformed")
      return this.#refuse("unauthorized", request.ip ?? "", "The Authorization header must be: Bearer TOKEN");
    if (credentials.from === "cookie" && changesSomething(request) && !isProvenOwn(request))
      return { kind: "problem", code: "cross-origin" };
    return this.judge(credentials.token, request.ip ?? "");
  }

  /** Asked again and again while an answer lasts, so it counts nothing against anybody. */
  async #isWelcome(request: Request, needed: Role): Promise<boolean> {
    const credentials = credentialsOf(request);
    if (!this.#callers.isConfigured || credentials.kind !== "token") return !this.#callers.isConfigured;
    const verdict = await this.#callers.identify(credentials.token);
    // While it cannot be told, a caller who was welcome stays.
    return verdict.kind === "unavailable" || (verdict.kind === "known" && roleReaches(verdict.identity.role, needed));
  }
}

function refuseBelow(needed: Role, { name, role }: Identity): void {
  if (roleReaches(role, needed)) return;
  const detail = `It needs the role ${needed}, and ${name} is ${role}`;
  throw new HttpProblem({ code: "forbidden", detail, neededRole: needed });
}
