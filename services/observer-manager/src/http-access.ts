import { roleWordsOf } from "./access-settings.ts";
import { KnownCallers } from "./adapters/access/known-callers.ts";
import type { HttpAccess } from "./adapters/http/server/app.ts";
import type { Log } from "./operations/log.ts";
import type { ManagerSettings } from "./settings.ts";

/** What the settings say of who may reach the manager. Throws SettingsError when the list of tokens cannot be read. */
export function httpAccessOf(settings: ManagerSettings, log: Log): HttpAccess & { callers: KnownCallers } {
  const { AUTH_TOKENS: tokens, AUTH_TOKENS_FILE: tokensFile } = settings;
  return {
    callers: new KnownCallers({ tokens, tokensFile, oidc: oidcOf(settings) }, log),
    metricsAccess: settings.METRICS_ACCESS,
    allowedHosts: (settings.ALLOWED_HOSTS ?? []).map((name) => name.toLowerCase()),
    corsOrigins: settings.CORS_ORIGINS ?? [],
    trustedProxies: settings.TRUSTED_PROXIES ?? [],
    requestsPerMinute: settings.RATE_LIMIT_PER_MINUTE,
    failuresPerMinute: settings.AUTH_FAILURES_PER_MINUTE,
    tls: tlsOf(settings),
  };
}

function tlsOf({ TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile, TLS_CLIENT_CA_FILE: clientCaFile }: ManagerSettings) {
  return certFile === undefined || keyFile === undefined ? undefined : { certFile, keyFile, clientCaFile };
}

function oidcOf(settings: ManagerSettings) {
  const { OIDC_ISSUER: issuer, OIDC_AUDIENCE: audience, OIDC_JWKS_URL: jwksUrl } = settings;
  if (issuer === undefined || audience === undefined || jwksUrl === undefined) return undefined;
  return {
    issuer,
    audience,
    jwksUrl,
    algorithms: settings.OIDC_ALGORITHMS,
    nameClaim: settings.OIDC_NAME_CLAIM,
    roleClaim: settings.OIDC_ROLE_CLAIM,
    roleWords: roleWordsOf(settings.OIDC_ROLES),
  };
}

/** Said once at start, so that nobody takes an open manager for a closed one. */
export function sayWhoMayComeIn({ callers }: HttpAccess, { ALLOW_ANONYMOUS }: ManagerSettings, log: Log): void {
  if (!callers.isConfigured)
    log.warn(
      { event: "anonymous" },
      "no authentication is configured: anybody who reaches this address may do everything (docs/security.md)",
    );
  else if (ALLOW_ANONYMOUS)
    log.warn({ event: "anonymous-unused" }, "ALLOW_ANONYMOUS has no effect, as authentication is configured");
}
