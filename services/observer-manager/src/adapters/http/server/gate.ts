import { type Access, type Role, roleReaches } from "@unacked/contracts";
import type { Request, RequestHandler, Response } from "express";
import { ANONYMOUS, type CallerCheck, type Identity } from "../../../domain/access/identity.ts";
import type { Log } from "../../../operations/log.ts";
import type { Refusal } from "../../../operations/refusal.ts";
import { credentialsOf } from "../api/access/credentials.ts";
import { HttpProblem } from "../api/http-problem.ts";
import { setCaller } from "./caller.ts";
import { changesSomething, isProvenOwn } from "./cross-origin.ts";
import type { RateLimits } from "./rate-limits.ts";

/** Before every call: who asks, may they, and are they not too many. Nothing of a body has been read by then. */
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
    const admit: RequestHandler = async (request, response, next) => {
      await this.#admit(access, request, response);
      next();
    };
    return [admit, ...this.#limits.perCaller];
  }

  /** Whose token it is. Wrong ones are counted by the address that they came from. */
  async judge(token: string, address: string): Promise<Identity | Refusal> {
    if (!this.#callers.isConfigured) return ANONYMOUS;
    const verdict = await this.#callers.identify(token);
    switch (verdict.kind) {
      case "known":
        return verdict.identity;
      case "unavailable":
        return { kind: "problem", code: "identity-provider-unavailable" };
      case "no-role":
        this.#log.warn({ event: "caller-refused", address, name: verdict.name, why: verdict.why }, "a caller was refused");
        return { kind: "problem", code: "forbidden", detail: verdict.why };
      case "refused":
        return this.#refuse(address, verdict.why);
      default:
        return verdict satisfies never;
    }
  }

  async #refuse(address: string, why: string): Promise<Refusal> {
    const retryAfterS = await this.#limits.countFailure(address);
    if (retryAfterS !== undefined) return { kind: "problem", code: "too-many-requests", retryAfterS };
    this.#log.warn({ event: "caller-refused", address, why }, "a caller was refused");
    return { kind: "problem", code: "unauthorized", detail: why };
  }

  async #admit(needed: Role, request: Request, response: Response): Promise<void> {
    const identity = await this.#identify(request);
    if ("kind" in identity) throw new HttpProblem(identity);
    const { name, role } = identity;
    if (!roleReaches(role, needed))
      throw new HttpProblem({
        code: "forbidden",
        detail: `It needs the role ${needed}, and ${name} is ${role}`,
        neededRole: needed,
      });
    setCaller(response, { identity, isStillWelcome: () => this.#isWelcome(request, role) });
  }

  async #identify(request: Request): Promise<Identity | Refusal> {
    if (!this.#callers.isConfigured) return ANONYMOUS;
    const credentials = credentialsOf(request);
    if (credentials.kind === "none") return { kind: "problem", code: "unauthorized" };
    if (credentials.kind === "malformed")
      return this.#refuse(request.ip ?? "", "The Authorization header must be: Bearer TOKEN");
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
