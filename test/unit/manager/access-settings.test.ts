import { loadSettings, SettingsError } from "@unacked/settings";
import { describe, expect, it } from "vitest";
import { newToken } from "../../../cli/src/config/new-token.ts";
import { isLoopback, roleWordsOf } from "../../../services/observer-manager/src/access-settings.ts";
import { ManagerSettings } from "../../../services/observer-manager/src/settings.ts";

const SERVERS = { AMQP_URL: "amqp://broker", DATABASE_URL: "postgres://db/x" };
const TOKENS = newToken("me", "admin").line;
const OIDC = {
  OIDC_ISSUER: "https://id.example",
  OIDC_AUDIENCE: "unacked",
  OIDC_JWKS_URL: "https://id.example/keys",
};

function problemsOf(env: Record<string, string>): readonly string[] {
  try {
    loadSettings(ManagerSettings, { env: { ...SERVERS, ...env } });
  } catch (error) {
    if (error instanceof SettingsError) return error.problems;
    throw error;
  }
  return [];
}

describe("without authentication", () => {
  it.each(["127.0.0.1", "127.9.8.7", "::1", "localhost", undefined])("the manager may listen on %s", (host) => {
    expect(problemsOf(host === undefined ? {} : { HOST: host })).toEqual([]);
  });

  it.each(["0.0.0.0", "::", "192.168.1.5", "10.0.0.1", "::ffff:10.0.0.1", "example.org", "localhost.example.org"])(
    "it may not listen on %s, and is told what to do",
    (host) => {
      expect(problemsOf({ HOST: host })).toEqual([
        expect.stringMatching(
          /^HOST: .* can be reached by others, .*Set AUTH_TOKENS.*listen on 127\.0\.0\.1.*ALLOW_ANONYMOUS=true/,
        ),
      ]);
    },
  );

  it("it may listen anywhere with ALLOW_ANONYMOUS, tokens, a file of tokens, or an identity provider", () => {
    const ways: Record<string, string>[] = [
      { ALLOW_ANONYMOUS: "true" },
      { AUTH_TOKENS: TOKENS },
      { AUTH_TOKENS_FILE: "/x" },
      OIDC,
    ];
    for (const known of ways) expect(problemsOf({ HOST: "0.0.0.0", ...known })).toEqual([]);
  });
});

describe("what does not go together is named", () => {
  it.each([
    [{ AUTH_TOKENS: TOKENS, AUTH_TOKENS_FILE: "/x" }, /^AUTH_TOKENS: give it or AUTH_TOKENS_FILE, not both$/],
    [{ AUTH_TOKENS: "ci operator secret" }, /^AUTH_TOKENS: line 1: must be: name role sha256/],
    [{ AUTH_TOKENS: "#" }, /^AUTH_TOKENS: holds no token$/],
    [{ OIDC_ISSUER: "https://id.example", OIDC_AUDIENCE: "unacked" }, /^OIDC_JWKS_URL: is required$/],
    [{ OIDC_JWKS_URL: "https://id.example/keys", OIDC_AUDIENCE: "x" }, /^OIDC_ISSUER: is required$/],
    [{ ...OIDC, OIDC_JWKS_URL: "http://id.example/keys" }, /^OIDC_JWKS_URL: must be an https/],
    [{ ...OIDC, OIDC_ALGORITHMS: "none" }, /^OIDC_ALGORITHMS: must be one of RS256/],
    [{ ...OIDC, OIDC_ALGORITHMS: "RS256,HS256" }, /^OIDC_ALGORITHMS: must be one of RS256/],
    [{ ...OIDC, OIDC_ROLES: "root=wheel" }, /^OIDC_ROLES: must be pairs such as admin=ops-team/],
    [{ TLS_CERT_FILE: "/cert" }, /^TLS_KEY_FILE: is required$/],
    [{ TLS_KEY_FILE: "/key" }, /^TLS_CERT_FILE: is required$/],
    [{ CORS_ORIGINS: "*" }, /^CORS_ORIGINS: must be origins/],
    [{ CORS_ORIGINS: "https://a.example/" }, /^CORS_ORIGINS: must be origins/],
    [{ TRUSTED_PROXIES: "10.0.0.0/33" }, /^TRUSTED_PROXIES: must be addresses/],
    [{ TRUSTED_PROXIES: "0.0.0.0/0" }, /^TRUSTED_PROXIES: must not be everybody .* name the proxies/],
    [{ TRUSTED_PROXIES: "loopback,::/0" }, /^TRUSTED_PROXIES: must not be everybody/],
    [{ TRUSTED_PROXIES: "everybody" }, /^TRUSTED_PROXIES: must be addresses/],
  ])("%o", (env, problem) => {
    expect(problemsOf(env as Record<string, string>)).toEqual([expect.stringMatching(problem)]);
  });

  it("and a wrong list of tokens does not show up in the message", () => {
    expect(problemsOf({ AUTH_TOKENS: "me admin unacked_secret" }).join()).not.toContain("unacked_secret");
  });
});

it("lists are separated by commas, keys may be of a provider on this host, and words stand for roles", () => {
  const env = {
    ...SERVERS,
    ...OIDC,
    OIDC_JWKS_URL: "http://127.0.0.1:9/keys",
    CORS_ORIGINS: "https://a.example, http://localhost:3000",
    TRUSTED_PROXIES: "loopback,10.0.0.0/8,fd00::/8",
    OIDC_ROLES: "admin=ops=team,viewer=__proto__",
  };
  const settings = loadSettings(ManagerSettings, { env });
  expect(settings.CORS_ORIGINS).toEqual(["https://a.example", "http://localhost:3000"]);
  expect(Object.entries(roleWordsOf(settings.OIDC_ROLES))).toEqual([
    ["ops=team", "admin"],
    ["__proto__", "viewer"],
  ]);
});

it("loopback is what leads to this host alone", () => {
  expect(["127.0.0.1", "[::1]", "::1", "localhost"].filter((host) => !isLoopback(host))).toEqual([]);
  expect(["0.0.0.0", "128.0.0.1", "127.0.0.1.nip.io", "::"].filter(isLoopback)).toEqual([]);
});
