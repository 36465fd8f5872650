import { createRemoteJWKSet, type JWKSCacheInput, type JWTVerifyGetKey, jwksCache } from "jose";
import type { Log } from "../../operations/log.ts";

export interface ProviderKeysOptions {
  /** An unknown key, or a provider that is away, is asked about again, but not more often than this: strangers make up key ids. */
  cooldownMs?: number;
  /** Keys that are older are fetched again before they are used. */
  renewAfterMs?: number;
  /** So old they may become while the provider cannot be asked. */
  keepForMs?: number;
}

const FETCH_TIMEOUT_MS = 5_000;
const COOLDOWN_MS = 10_000;
const RENEW_AFTER_MS = 600_000;
const KEEP_FOR_MS = 86_400_000;

/**
 * The public keys of an identity provider, fetched when they are first needed, when they have grown old, and when a token
 * names one that is new. A provider that is away locks out nobody whose key is known: its keys hold for a day. Rejects
 * when there are none: with JWKSTimeout, JWKSInvalid, or what `fetch` rejected with.
 */
export class ProviderKeys {
  /** For jose. */
  readonly get: JWTVerifyGetKey;
  /** jose notes here what it has fetched, and when. */
  readonly #fetched: { uat?: number } = {};
  readonly #remote: ReturnType<typeof createRemoteJWKSet>;
  readonly #log: Log;
  readonly #cooldownMs: number;
  readonly #renewAfterMs: number;
  readonly #keepForMs: number;
  #askAgainAt = 0;

  constructor(url: URL, log: Log, options: ProviderKeysOptions = {}) {
    this.#log = log;
    this.#cooldownMs = options.cooldownMs ?? COOLDOWN_MS;
    this.#renewAfterMs = options.renewAfterMs ?? RENEW_AFTER_MS;
    this.#keepForMs = options.keepForMs ?? KEEP_FOR_MS;
    this.#remote = createRemoteJWKSet(url, {
      timeoutDuration: FETCH_TIMEOUT_MS,
      cooldownDuration: this.#cooldownMs,
      cacheMaxAge: Number.POSITIVE_INFINITY, // how old they may be is decided below
      [jwksCache]: this.#fetched as JWKSCacheInput,
    });
    this.get = async (header, token) => {
      await this.#renewIfOld();
      return this.#remote(header, token);
    };
  }

  async #renewIfOld(): Promise<void> {
    const { uat: fetchedAt } = this.#fetched;
    if (fetchedAt === undefined) return; // jose asks, for want of any
    const ageMs = Date.now() - fetchedAt;
    if (ageMs < this.#renewAfterMs) return;
    const areGood = ageMs < this.#keepForMs;
    if (areGood && Date.now() < this.#askAgainAt) return;
    try {
      await this.#remote.reload();
    } catch (error) {
      if (!areGood) throw error;
      this.#askAgainAt = Date.now() + this.#cooldownMs;
      const fields = { event: "identity-provider-away", err: error, keysOf: new Date(fetchedAt).toISOString() };
      this.#log.warn(fields, "OIDC_JWKS_URL cannot be asked; the keys that are known hold until a day old");
    }
  }
}
