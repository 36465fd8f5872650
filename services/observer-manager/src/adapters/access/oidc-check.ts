import { findJsonFlaws } from "@unacked/contracts";
import { errors, type JWTPayload, jwtVerify } from "jose";
import type { Verdict } from "../../domain/access/identity.ts";
import { WHOLE } from "../../domain/access/task-share.ts";
import type { Log } from "../../operations/log.ts";
import { KeysUnavailable, ProviderKeys, type ProviderKeysOptions } from "./provider-keys.ts";
import { claimAt, type RoleWords, roleOf } from "./role-claim.ts";

export interface OidcSettings {
  issuer: string;
  audience: string;
  /** The address of the issuer's public keys. */
  jwksUrl: string;
  /** The accepted signature algorithms: only asymmetric ones, as the keys are public. */
  algorithms: string[];
  nameClaim: string;
  roleClaim: string;
  roleWords: RoleWords;
}

/** Clocks of two machines are never quite the same. */
const CLOCK_TOLERANCE_S = 30;

/** The last time with a year of four digits. Later ones are not timestamps of the API. */
const LAST_TIME_MS = Date.parse("9999-12-31T23:59:59.999Z");

const MAX_NAME_LENGTH = 128;
/** A name stands in lines of the log. */
const CONTROL_CHARACTER = /\p{Cc}/u;

/**
 * JWTs of an identity provider (OpenID Connect, RFC 9068, RFC 8725): the signature by one of its published keys, issuer,
 * audience and times are checked; a token without an expiry is refused. A new key of the issuer is found when it is first used.
 */
export class OidcCheck {
  readonly #settings: OidcSettings;
  readonly #keys: ProviderKeys;
  readonly #log: Log;

  constructor(settings: OidcSettings, log: Log, keys?: ProviderKeysOptions) {
    this.#settings = settings;
    this.#log = log;
    this.#keys = new ProviderKeys(new URL(settings.jwksUrl), log, keys);
  }

  async verify(token: string): Promise<Verdict> {
    const { issuer, audience, algorithms } = this.#settings;
    const options = { issuer, audience, algorithms, clockTolerance: CLOCK_TOLERANCE_S, requiredClaims: ["exp"] };
    try {
      const { payload } = await jwtVerify(token, this.#keys.get, options);
      return this.#verdictOn(payload);
    } catch (error) {
      if (error instanceof KeysUnavailable) return { kind: "unavailable" };
      const why = reasonOf(error);
      if (why !== undefined) return { kind: "refused", why };
      this.#log.error({ event: "identity-provider-unavailable", err: error }, "a key of OIDC_JWKS_URL cannot be used");
      return { kind: "unavailable" };
    }
  }

  #verdictOn(claims: JWTPayload): Verdict {
    const { nameClaim, roleClaim, roleWords } = this.#settings;
    const name = claimAt(claims, nameClaim);
    if (typeof name !== "string" || name === "" || name.length > MAX_NAME_LENGTH)
      return { kind: "refused", why: `The token has no name in its claim ${nameClaim}` };
    if (CONTROL_CHARACTER.test(name) || findJsonFlaws(name).length > 0)
      return { kind: "refused", why: `The token's claim ${nameClaim} has a control character, or half of a surrogate pair` };
    const role = roleOf(claimAt(claims, roleClaim), roleWords);
    if (role === undefined)
      return { kind: "no-role", name, why: `The token's claim ${roleClaim} gives no role in this manager` };
    const expiresAtMs = Math.min((claims.exp ?? 0) * 1_000, LAST_TIME_MS);
    return { kind: "known", identity: { name, role, authentication: "oidc", expiresAtMs, share: WHOLE } };
  }
}

/** What is wrong with the token itself. Undefined means that the token is not at fault. */
function reasonOf(error: unknown): string | undefined {
  if (error instanceof errors.JWTExpired) return "The token has expired";
  if (error instanceof errors.JWTClaimValidationFailed) return `The token's claim ${error.claim} is not as it must be here`;
  if (error instanceof errors.JWKSNoMatchingKey)
    return "The token is signed by a key that its issuer does not publish, or has only just published: try again in 10 s";
  const ofToken = [
    errors.JWSSignatureVerificationFailed,
    errors.JWSInvalid,
    errors.JWTInvalid,
    errors.JOSEAlgNotAllowed,
    errors.JOSENotSupported,
    errors.JWKSMultipleMatchingKeys,
  ];
  return ofToken.some((kind) => error instanceof kind) ? "The token is not genuine" : undefined;
}
