import { BlockList, isIP } from "node:net";
import { ROLES, type Role } from "@unacked/contracts";
import { flag, oneOf, text, textList, wholeNumber, withTraits } from "@unacked/settings";
import { z } from "zod";
import { parseTokenList } from "./domain/access/token-list.ts";

/** Signatures by a key pair: with a shared secret, the one that checks could also sign. */
const ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"] as const;

const tokenList = text().superRefine((list, context) => {
  const { tokens, problems } = parseTokenList(list);
  for (const problem of problems) context.addIssue({ code: "custom", message: problem });
  if (tokens.length === 0 && problems.length === 0) context.addIssue({ code: "custom", message: "holds no token" });
});

const secureUrl = text().refine(
  (url) => URL.canParse(url) && (url.startsWith("https://") || isLoopback(new URL(url).hostname)),
  "must be an https:// address",
);

const origin = text().refine(
  (url) => URL.canParse(url) && new URL(url).origin === url,
  "must be origins such as https://example.org, without a path",
);

const network = text()
  .refine(isNetwork, "must be addresses, networks such as 10.0.0.0/8, loopback, linklocal or uniquelocal")
  .refine(
    (given) => !/\/0+$/.test(given),
    "must not be everybody (/0), who could then say by a header from where they come: name the proxies",
  );

const ROLE_WORD = new RegExp(`^(${ROLES.join("|")})=\\S+$`);
const roleWord = text().refine(
  (pair) => ROLE_WORD.test(pair),
  "must be pairs such as admin=ops-team, with taker, viewer, operator or admin before the =",
);

/** `["admin=ops-team"]` as `{ "ops-team": "admin" }`. */
export const roleWordsOf = (pairs: readonly string[]): Record<string, Role> =>
  Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf("=");
      return [pair.slice(at + 1), pair.slice(0, at) as Role];
    }),
  );

/** Who may reach the manager, and how it knows them. */
export const AccessSettings = z.object({
  AUTH_TOKENS: withTraits(
    tokenList
      .optional()
      .describe(
        "Bearer tokens that are accepted, each as `name role sha256:<hex>`, one a line or separated by commas; `unacked token create` makes one. Behind a taker's may stand `type:<name>` and `pool:<name>`, of what it may take.",
      ),
    { secret: true },
  ),
  AUTH_TOKENS_FILE: text()
    .optional()
    .describe(
      "A file with such lines instead; a change is taken up within 5 s, without a restart. With OIDC_ISSUER it may be empty, or come later.",
    ),
  OIDC_ISSUER: text().optional().describe("The identity provider whose JWTs are accepted: their `iss`, exactly."),
  OIDC_AUDIENCE: text().optional().describe("What their `aud` must name."),
  OIDC_JWKS_URL: secureUrl.optional().describe("Where the provider's public keys are (its `jwks_uri`)."),
  OIDC_ALGORITHMS: textList(oneOf(ALGORITHMS))
    .default(["RS256", "PS256", "ES256", "EdDSA"])
    .describe("Signatures that are accepted."),
  OIDC_NAME_CLAIM: text().default("sub").describe("The claim that says who it is, as the audit trail shows it."),
  OIDC_ROLE_CLAIM: text()
    .default("roles")
    .describe("The claim that gives the role; a path such as `realm_access.roles`, too."),
  OIDC_ROLES: textList(roleWord)
    .default(ROLES.map((role) => `${role}=${role}`))
    .describe("Which words in that claim stand for which role; of several, the highest counts."),
  ALLOW_ANONYMOUS: flag()
    .default(false)
    .describe(
      "Without authentication, listen beyond loopback all the same: anybody who reaches the address may do everything. No effect where authentication is configured.",
    ),
  ALLOWED_HOSTS: textList(text())
    .optional()
    .describe(
      "Host names under which a manager without authentication answers, beside addresses, localhost and names without a dot: other names may be a foreign page's (DNS rebinding).",
    ),
  TLS_CERT_FILE: text()
    .optional()
    .describe("The manager's certificate (PEM, with those between it and the authority): REST and the page by https alone."),
  TLS_KEY_FILE: text()
    .optional()
    .describe("The key of that certificate (PEM). Both are read again within 5 s when they change."),
  TLS_CLIENT_CA_FILE: text()
    .optional()
    .describe(
      "Certificates (PEM) of those who sign the clients': a client that brings none of theirs does not get as far as a request.",
    ),
  METRICS_ACCESS: oneOf(["open", "viewer"])
    .default("open")
    .describe("Who may read /metrics: anybody, or viewers and higher roles."),
  CORS_ORIGINS: textList(origin)
    .optional()
    .describe("Origins whose pages may call REST, with a token of their own; not set: no foreign page may."),
  RATE_LIMIT_PER_MINUTE: wholeNumber(0, 100_000_000)
    .default(120_000)
    .describe(
      "Requests that one caller (or, without authentication, one address) may make in a minute at one manager; 0: any number.",
    ),
  AUTH_FAILURES_PER_MINUTE: wholeNumber(1, 1_000_000)
    .default(30)
    .describe(
      "Tokens from one address in a minute that are wrong (401), or give no role (403); those beyond get 429, but for the page's session.",
    ),
  TRUSTED_PROXIES: textList(network)
    .optional()
    .describe(
      "Proxies in front of the manager, whose X-Forwarded-For, -Proto and -Host are believed; not set: nobody's are.",
    ),
});
export type AccessSettings = z.output<typeof AccessSettings> & { HOST: string };

export const isLoopback = (host: string): boolean => {
  const name = host.replace(/^\[|\]$/g, "");
  return name === "localhost" || (isIP(name) !== 0 && LOOPBACK.check(name, isIP(name) === 6 ? "ipv6" : "ipv4"));
};

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet("127.0.0.0", 8, "ipv4");
LOOPBACK.addAddress("::1", "ipv6");

function isNetwork(given: string): boolean {
  if (["loopback", "linklocal", "uniquelocal"].includes(given)) return true;
  const [address = "", bits, ...more] = given.split("/");
  const version = isIP(address);
  if (version === 0 || more.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 6 ? 128 : 32));
}

/** What is wrong with settings that are each right: that which depends on several. */
export function accessFlaws(settings: AccessSettings): { setting: keyof AccessSettings | "HOST"; message: string }[] {
  const { HOST, AUTH_TOKENS, AUTH_TOKENS_FILE, OIDC_ISSUER, OIDC_AUDIENCE, OIDC_JWKS_URL } = settings;
  const flaws: ReturnType<typeof accessFlaws> = [];
  if (AUTH_TOKENS !== undefined && AUTH_TOKENS_FILE !== undefined)
    flaws.push({ setting: "AUTH_TOKENS", message: "give it or AUTH_TOKENS_FILE, not both" });
  const oidc = { OIDC_ISSUER, OIDC_AUDIENCE, OIDC_JWKS_URL };
  const missing = Object.entries(oidc).filter(([, value]) => value === undefined);
  if (missing.length > 0 && missing.length < 3)
    flaws.push(...missing.map(([name]) => ({ setting: name as keyof typeof oidc, message: "is required" })));
  const { TLS_CERT_FILE, TLS_KEY_FILE, TLS_CLIENT_CA_FILE } = settings;
  const needsBoth = TLS_CERT_FILE !== undefined || TLS_KEY_FILE !== undefined || TLS_CLIENT_CA_FILE !== undefined;
  for (const [name, value] of Object.entries({ TLS_CERT_FILE, TLS_KEY_FILE }))
    if (needsBoth && value === undefined) flaws.push({ setting: name as "TLS_CERT_FILE", message: "is required" });
  if (!isAuthenticationConfigured(settings) && !settings.ALLOW_ANONYMOUS && !isLoopback(HOST))
    flaws.push({ setting: "HOST", message: `${HOST} ${UNSAFE_ADDRESS}` });
  return flaws;
}

const UNSAFE_ADDRESS =
  "can be reached by others, and nothing says who may come in. Set AUTH_TOKENS, AUTH_TOKENS_FILE or OIDC_ISSUER; or listen on 127.0.0.1; or set ALLOW_ANONYMOUS=true where the network keeps strangers out";

export const isAuthenticationConfigured = (settings: AccessSettings): boolean =>
  settings.AUTH_TOKENS !== undefined || settings.AUTH_TOKENS_FILE !== undefined || settings.OIDC_ISSUER !== undefined;
