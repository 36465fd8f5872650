import { createRemoteJWKSet, errors, type JWTVerifyGetKey } from "jose";
import type { Log } from "../../operations/log.ts";

export interface ProviderKeysOptions {
  /** How long to wait before asking again about an unknown key, or a provider that is away: strangers make up key ids. */
  cooldownMs?: number;
  /** Keys older than this are fetched again before they are used, or meanwhile if the provider is away. */
  renewAfterMs?: number;
  /** How old keys may become while the provider cannot be asked. */
  keepForMs?: number;
}

const FETCH_TIMEOUT_MS = 5_000;
const COOLDOWN_MS = 10_000;
const RENEW_AFTER_MS = 600_000;
const KEEP_FOR_MS = 86_400_000;

/**
 * The provider cannot be asked for a key that is needed. The failure is logged. `cause`: JWKSTimeout, JWKSInvalid, or what `fetch` rejected
 * with.
 */
export class KeysUnavailable extends Error {
  constructor(cause: unknown) {
    super("the keys of OIDC_JWKS_URL cannot be fetched", { cause });
  }
}

/**
 * The public keys of an identity provider, fetched when they are first needed, when they are old, and when a token names a
 * new one. A provider that is away locks out nobody whose key is known: its keys hold for a day. However many tokens ask,
 * there is one fetch a cooldown, and one line in the log for a failed one.
 */
export class ProviderKeys {
  /** The key lookup for jose. Rejects with KeysUnavailable, or with JWKSNoMatchingKey. */
  readonly get: JWTVerifyGetKey;
  readonly #remote: ReturnType<typeof createRemoteJWKSet>;
  readonly #log: Log;
  readonly #cooldownMs: number;
  readonly #renewAfterMs: number;
  readonly #keepForMs: number;
  /** Measured by the monotonic clock: with one that can be put back a withdrawn key would be good for longer. */
  #fetchedAt = Number.NEGATIVE_INFINITY;
  #askAgainAt = Number.NEGATIVE_INFINITY;
  #asking: Promise<void> | undefined;
  /** The failure of the last fetch. Undefined if it went well. */
  #failure: KeysUnavailable | undefined;

  constructor(url: URL, log: Log, options: ProviderKeysOptions = {}) {
    this.#log = log;
    this.#cooldownMs = options.cooldownMs ?? COOLDOWN_MS;
    this.#renewAfterMs = options.renewAfterMs ?? RENEW_AFTER_MS;
    this.#keepForMs = options.keepForMs ?? KEEP_FOR_MS;
    this.#remote = createRemoteJWKSet(url, {
      timeoutDuration: FETCH_TIMEOUT_MS,
      // The code below decides when keys are fetched, as jose's cooldown counts only fetches that went well.
      cooldownDuration: Number.POSITIVE_INFINITY,
      cacheMaxAge: Number.POSITIVE_INFINITY,
    });
    this.get = async (header, token) => {
      await this.#renewIfOld();
      try {
        return await this.#remote(header, token);
      } catch (error) {
        if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
        await this.#ask();
        if (this.#failure !== undefined) throw this.#failure;
        return this.#remote(header, token);
      }
    };
  }

  async #renewIfOld(): Promise<void> {
    if (this.#ageMs() < this.#renewAfterMs) return;
    const asked = this.#ask();
    // A fetch that hangs holds up callers with a known key only once, not whenever it is tried again.
    if (this.#areGood() && this.#failure !== undefined) return;
    await asked;
    if (!this.#areGood() && this.#failure !== undefined) throw this.#failure;
  }

  /** Never rejects. Callers that ask meanwhile wait for the same fetch; in the cooldown there is none. */
  #ask(): Promise<void> {
    if (this.#asking === undefined && performance.now() < this.#askAgainAt) return Promise.resolve();
    this.#asking ??= this.#fetch().finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }

  async #fetch(): Promise<void> {
    try {
      await this.#remote.reload();
      this.#failure = undefined;
      this.#fetchedAt = performance.now();
    } catch (error) {
      this.#failure = new KeysUnavailable(error);
      this.#tell(error);
    }
    this.#askAgainAt = performance.now() + this.#cooldownMs;
  }

  #tell(error: unknown): void {
    if (!this.#areGood()) {
      this.#log.error({ event: "identity-provider-unavailable", err: error }, "the keys of OIDC_JWKS_URL cannot be fetched");
      return;
    }
    const fields = {
      event: "identity-provider-away",
      err: error,
      keysOf: new Date(Date.now() - this.#ageMs()).toISOString(),
    };
    this.#log.warn(fields, "OIDC_JWKS_URL cannot be reached; the known keys are used until they are a day old");
  }

  #ageMs(): number {
    return performance.now() - this.#fetchedAt;
  }

  #areGood(): boolean {
    return this.#ageMs() < this.#keepForMs;
  }
}
