import type { Request, RequestHandler, Response } from "express";
import { ipKeyGenerator, MemoryStore, type Options, rateLimit } from "express-rate-limit";
import { HttpProblem } from "../api/http-problem.ts";
import { callerOf } from "./caller.ts";

const WINDOW_MS = 60_000;

export interface RateLimitSettings {
  /** How many requests of one caller this manager takes; 0 means any number. */
  requestsPerMinute: number;
  /** How many tokens of one address may be refused. Beyond that it is answered 429 instead of 401. */
  failuresPerMinute: number;
}

/**
 * A window that ends later than a new one would was begun before the clock was put back. It is reset, as callers in it would wait until the
 * clock has caught up.
 */
class Windows extends MemoryStore {
  override async increment(key: string): ReturnType<MemoryStore["increment"]> {
    const window = await this.get(key);
    if (window?.resetTime !== undefined && window.resetTime.getTime() > Date.now() + WINDOW_MS) await this.resetKey(key);
    return super.increment(key);
  }
}

/**
 * Bounds how much one caller may ask, counted in this manager's memory. Valid tokens are never held up by wrong ones, even from
 * the same address: behind a proxy one page with an old token would lock out everybody, and 256 random bits need no protection
 * from guessing.
 */
export class RateLimits {
  /** Handlers for requests whose caller is known. */
  readonly perCaller: RequestHandler[];
  readonly #failures = new Windows();
  readonly #failuresPerMinute: number;

  constructor({ requestsPerMinute, failuresPerMinute }: RateLimitSettings) {
    this.perCaller = requestsPerMinute === 0 ? [] : [limitCallers(requestsPerMinute)];
    this.#failuresPerMinute = failuresPerMinute;
    this.#failures.init({ windowMs: WINDOW_MS } as Options);
  }

  /** @returns in how many seconds to come back, when it was one too many */
  async countFailure(address: string): Promise<number | undefined> {
    const { totalHits, resetTime } = await this.#failures.increment(keyOfAddress(address));
    return totalHits > this.#failuresPerMinute ? secondsUntil(resetTime) : undefined;
  }
}

const limitCallers = (limit: number): RequestHandler =>
  rateLimit({
    windowMs: WINDOW_MS,
    limit,
    store: new Windows(),
    keyGenerator: keyOfCaller,
    handler: (request: Request & { rateLimit?: { resetTime?: Date } }, _response, next) =>
      next(new HttpProblem({ code: "too-many-requests", retryAfterS: secondsUntil(request.rateLimit?.resetTime) })),
    standardHeaders: false,
    legacyHeaders: false,
    validate: false,
  });

/** The key of an unknown caller is their address. */
export function keyOfCaller(request: Request, response: Response): string {
  const { identity } = callerOf(response);
  const { authentication, name } = identity;
  return authentication === "anonymous" ? keyOfAddress(request.ip ?? "") : `${authentication} ${name}`;
}

/** For IPv6 the key is the customer's network, which has any number of addresses. */
const keyOfAddress = (address: string): string => ipKeyGenerator(address);

const secondsUntil = (time: Date | undefined): number =>
  Math.max(1, Math.ceil(((time?.getTime() ?? Date.now() + WINDOW_MS) - Date.now()) / 1_000));
