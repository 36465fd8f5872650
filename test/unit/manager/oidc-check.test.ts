import { createHmac } from "node:crypto";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { newToken } from "../../../cli/src/config/new-token.ts";
import { KnownCallers } from "../../../services/observer-manager/src/adapters/access/known-callers.ts";
import { OidcCheck, type OidcSettings } from "../../../services/observer-manager/src/adapters/access/oidc-check.ts";
import type { ProviderKeysOptions } from "../../../services/observer-manager/src/adapters/access/provider-keys.ts";
import { claimAt, roleOf } from "../../../services/observer-manager/src/adapters/access/role-claim.ts";
import { eventually } from "../../support/eventually.ts";
import { keptLog } from "../../support/servers/books.ts";
import { type IdentityProvider, startIdentityProvider, type TokenOptions } from "../../support/servers/identity-provider.ts";

let provider: IdentityProvider;
let log: ReturnType<typeof keptLog>;
let check: OidcCheck;
/** They go on together, and one of them can be put back. */
const CLOCKS = ["Date", "performance"] as const;

beforeEach(async () => {
  provider = await startIdentityProvider();
  log = keptLog();
  check = checkWith();
});

afterEach(() => void vi.useRealTimers());

const settingsOf = (more: Partial<OidcSettings> = {}): OidcSettings => ({
  issuer: provider.issuer,
  audience: "unacked",
  jwksUrl: provider.jwksUrl,
  algorithms: ["RS256", "ES256", "EdDSA"],
  nameClaim: "sub",
  roleClaim: "roles",
  roleWords: { viewer: "viewer", operator: "operator", admin: "admin" },
  ...more,
});

const checkWith = (more: Partial<OidcSettings> = {}, keys: ProviderKeysOptions = {}): OidcCheck =>
  new OidcCheck(settingsOf(more), log, { cooldownMs: 0, ...keys });

const verdictOn = async (options: TokenOptions) => check.verify(await provider.sign(options));

describe("a token of the identity provider", () => {
  it("is known by its name and role, until it expires", async () => {
    const before = Date.now();
    const verdict = await verdictOn({ claims: { sub: "alice", roles: ["operator"] }, expiresInS: 60 });
    const after = Date.now();
    expect(verdict).toMatchObject({
      kind: "known",
      identity: { name: "alice", role: "operator", authentication: "oidc" },
    });
    const { expiresAtMs } = verdict.kind === "known" ? verdict.identity : expect.fail("not known");
    expect((expiresAtMs ?? 0) - before).toBeGreaterThan(58_000);
    expect((expiresAtMs ?? 0) - after).toBeLessThanOrEqual(60_000);
  });

  it("that is to expire after all years of four digits does so with the last of them, which a timestamp can show", async () => {
    for (const expiresInS of [2.6e11, 1e15])
      expect(await verdictOn({ claims: { roles: ["viewer"] }, expiresInS })).toMatchObject({
        identity: { expiresAtMs: Date.parse("9999-12-31T23:59:59.999Z") },
      });
  });

  it("may be for several audiences, ours among them, and signed in any of the ways that are listed", async () => {
    expect((await verdictOn({ audience: ["other", "unacked"] })).kind).toBe("known");
    for (const alg of ["RS256", "EdDSA"]) {
      await provider.addKey(alg, { alg });
      expect((await verdictOn({ kid: alg })).kind, alg).toBe("known");
    }
  });

  it.each<[string, TokenOptions, string]>([
    ["has expired", { expiresInS: -60 }, "The token has expired"],
    ["is for somebody else", { audience: "other" }, "The token's claim aud is not as it must be here"],
    ["is of another issuer", { issuer: "https://evil.example" }, "The token's claim iss is not as it must be here"],
    ["never expires", { expiresInS: null }, "The token's claim exp is not as it must be here"],
    ["is not valid yet", { notBeforeInS: 600 }, "The token's claim nbf is not as it must be here"],
    ["has no name", { claims: { sub: "" } }, "The token has no name in its claim sub"],
    [
      "has a name that PostgreSQL's JSON cannot have",
      { claims: { sub: "a\ud83d" } },
      "The token's claim sub has a control character, or half of a surrogate pair",
    ],
    [
      "has a name of two lines",
      { claims: { sub: "a\nb" } },
      "The token's claim sub has a control character, or half of a surrogate pair",
    ],
    ["has a name that is none", { claims: { sub: "x".repeat(200) } }, "The token has no name in its claim sub"],
  ])("is refused when it %s", async (_, options, why) => {
    expect(await verdictOn(options)).toEqual({ kind: "refused", why });
  });

  it("is refused without a signature, with one of ours made of public things, and with a changed word", async () => {
    const token = await provider.sign({ claims: { roles: ["viewer"] } });
    const [, payload = "", signature = ""] = token.split(".");
    const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const unsigned = `${encoded({ alg: "none" })}.${payload}.`;
    const admin = encoded({ ...JSON.parse(Buffer.from(payload, "base64url").toString()), roles: ["admin"] });
    const header = encoded({ alg: "HS256", kid: "first" });
    const keys = await (await fetch(provider.jwksUrl)).text();
    const shared = createHmac("sha256", keys).update(`${header}.${admin}`).digest("base64url");
    const forged = [
      unsigned,
      `${encoded({ alg: "None", kid: "first" })}.${payload}.${signature}`,
      `${header}.${admin}.${shared}`,
      `${token.split(".")[0]}.${admin}.${signature}`,
      `${token.slice(0, -8)}AAAAAAAA`,
      `${encoded({ alg: "ES256", kid: "first", crit: ["x"], x: 1 })}.${payload}.${signature}`,
      "a.b.c",
      `${encoded({})}.e30.AA`,
    ];
    for (const each of forged)
      expect(await check.verify(each), each).toEqual({ kind: "refused", why: "The token is not genuine" });
  });

  it("is refused when it is signed in a way that is not listed, though the key is published", async () => {
    const strict = checkWith({ algorithms: ["RS256"] });
    expect(await strict.verify(await provider.sign())).toEqual({ kind: "refused", why: "The token is not genuine" });
  });

  it("without a role here is genuine, and gets nowhere", async () => {
    for (const roles of [[], ["chef"], ["__proto__"], ["constructor"], "chef", 7, null, { viewer: true }]) {
      expect(await verdictOn({ claims: { roles } }), JSON.stringify(roles)).toEqual({
        kind: "no-role",
        name: "alice",
        why: "The token's claim roles gives no role in this manager",
      });
    }
  });
});

describe("the provider's keys", () => {
  it("are asked for once, and again when a key is new: one that it publishes is taken up", async () => {
    expect((await verdictOn({})).kind).toBe("known");
    expect((await verdictOn({})).kind).toBe("known");
    expect(provider.asked()).toBe(1);
    await provider.addKey("second");
    expect((await verdictOn({ kid: "second" })).kind).toBe("known");
    expect((await verdictOn({ kid: "first" })).kind).toBe("known");
    expect(provider.asked()).toBe(2);
    provider.withdrawKey("first");
    await provider.addKey("third");
    expect((await verdictOn({ kid: "third" })).kind).toBe("known");
    expect((await verdictOn({ kid: "first" })).kind).toBe("refused");
  });

  it("that it does not publish are refused, and strangers who make them up cannot make us ask without end", async () => {
    check = checkWith({}, { cooldownMs: 60_000 });
    expect((await verdictOn({})).kind).toBe("known");
    await provider.addKey("secret", { isSecret: true });
    for (let i = 0; i < 20; i += 1)
      expect(await verdictOn({ kid: "secret" })).toEqual({
        kind: "refused",
        why: "The token is signed by a key that its issuer does not publish, or has only just published: try again in 10 s",
      });
    expect(provider.asked()).toBe(1);
  });

  it.each([
    ["has given none", "error", "identity-provider-unavailable"],
    ["has given some", "warn", "identity-provider-away"],
  ])(
    "of a provider that is away, and %s, are asked for once in a while by strangers, and told once",
    async (_, level, event) => {
      vi.useFakeTimers({ toFake: [...CLOCKS] });
      check = checkWith({}, { cooldownMs: 60_000 });
      await provider.addKey("secret", { isSecret: true });
      if (level === "warn") expect((await verdictOn({ kid: "first" })).kind).toBe("known");
      vi.advanceTimersByTime(60_000);
      provider.answerWith(503);
      const before = provider.asked();
      const verdicts = await Promise.all(Array.from({ length: 20 }, () => verdictOn({ kid: "secret" })));
      for (let i = 0; i < 20; i += 1) verdicts.push(await verdictOn({ kid: "secret" }));
      expect([...new Set(verdicts.map(({ kind }) => kind))]).toEqual(["unavailable"]);
      expect(provider.asked()).toBe(before + 1);
      expect(log.lines).toEqual([expect.objectContaining({ level, fields: expect.objectContaining({ event }) })]);
    },
  );

  it("are asked for again after the cooldown, also when the clock was put back in it", async () => {
    vi.useFakeTimers({ toFake: [...CLOCKS] });
    check = checkWith({}, { cooldownMs: 60_000 });
    provider.answerWith(503);
    for (let i = 0; i < 2; i += 1) expect((await verdictOn({})).kind).toBe("unavailable");
    expect(provider.asked()).toBe(1);
    vi.setSystemTime(Date.now() - 6 * 3_600_000);
    vi.advanceTimersByTime(60_000);
    for (let i = 0; i < 2; i += 1) expect((await verdictOn({})).kind).toBe("unavailable");
    expect(provider.asked()).toBe(2);
  });

  it.each([
    ["cannot be reached", () => provider.close()],
    ["are not given", () => provider.answerWith(503)],
    ["are no keys", () => provider.answerWith(200, '{"keys": 7}')],
    ["are no JSON", () => provider.answerWith(200, "<html>")],
  ])("that %s are not the token's fault: it cannot be told, and the log says why", async (_, fail) => {
    const token = await provider.sign();
    await Promise.resolve(fail());
    expect(await check.verify(token)).toEqual({ kind: "unavailable" });
    expect(log.lines).toEqual([
      expect.objectContaining({
        level: "error",
        fields: expect.objectContaining({ event: "identity-provider-unavailable" }),
      }),
    ]);
    expect(JSON.stringify(log.lines)).not.toContain(token);
  });
});

describe("keys that have grown old", () => {
  it("are fetched again before they are used: one that is withdrawn counts no longer", async () => {
    check = checkWith({}, { renewAfterMs: 0 });
    expect((await verdictOn({})).kind).toBe("known");
    await provider.addKey("second");
    provider.withdrawKey("first");
    expect((await verdictOn({ kid: "first" })).kind).toBe("refused");
  });

  it("are fetched again in time also after the clock was put back: one that is withdrawn counts no longer", async () => {
    vi.useFakeTimers({ toFake: [...CLOCKS] });
    check = checkWith({}, { renewAfterMs: 600_000 });
    expect((await verdictOn({})).kind).toBe("known");
    await provider.addKey("second");
    provider.withdrawKey("first");
    vi.setSystemTime(Date.now() - 3_600_000);
    vi.advanceTimersByTime(600_000);
    expect((await verdictOn({ kid: "first" })).kind).toBe("refused");
  });

  it("hold on while the provider is away, which is asked now and then; until it is back, or they are too old", async () => {
    vi.useFakeTimers({ toFake: [...CLOCKS] });
    check = checkWith({}, { renewAfterMs: 60_000, cooldownMs: 60_000 });
    const old = checkWith({}, { renewAfterMs: 0, keepForMs: 0 });
    for (const each of [check, old]) expect((await each.verify(await provider.sign())).kind).toBe("known");
    vi.advanceTimersByTime(60_000);
    provider.answerWith(503);
    const before = provider.asked();
    for (let i = 0; i < 5; i += 1) expect((await verdictOn({})).kind).toBe("known");
    expect(provider.asked()).toBe(before + 1);
    expect(log.lines).toEqual([
      expect.objectContaining({ level: "warn", fields: expect.objectContaining({ event: "identity-provider-away" }) }),
    ]);
    expect((await old.verify(await provider.sign())).kind).toBe("unavailable");
  });

  it("are renewed behind the request, once the provider has failed: one that hangs holds nobody up", async () => {
    check = checkWith({}, { renewAfterMs: 0 });
    expect((await verdictOn({})).kind).toBe("known");
    provider.answerWith(503);
    expect((await verdictOn({})).kind).toBe("known");
    provider.hang();
    const before = provider.asked();
    expect((await verdictOn({})).kind).toBe("known");
    expect(log.lines).toHaveLength(1); // it has not been told yet that the provider does not answer
    await vi.waitFor(() => expect(provider.asked()).toBe(before + 1));
  });

  it("do not make a key of which nothing is known into one that is refused", async () => {
    check = checkWith({}, { renewAfterMs: 0 });
    expect((await verdictOn({})).kind).toBe("known");
    await provider.addKey("second");
    provider.answerWith(503);
    expect((await verdictOn({ kid: "second" })).kind).toBe("unavailable");
    expect((await verdictOn({ kid: "first" })).kind).toBe("known");
  });
});

it("beside listed tokens both are accepted; what is no JWT is never shown to the provider", async () => {
  const tokens = `ci operator sha256:${"0".repeat(64)}`;
  const callers = new KnownCallers({ tokens, oidc: settingsOf() }, log);
  expect((await callers.identify(await provider.sign())).kind).toBe("known");
  expect(await callers.identify("unacked_nonsense")).toEqual({ kind: "refused", why: "The token is not known" });
  const alone = new KnownCallers({ tokens }, log);
  expect((await alone.identify(await provider.sign())).kind).toBe("refused");
  expect(new KnownCallers({}, log).isConfigured).toBe(false);
});

describe("a list without a token", () => {
  const nobody = "# nobody";
  const newFile = () => join(mkdtempSync(join(tmpdir(), "unacked-tokens-")), "tokens");

  it("is a mistake where nothing else says who may come in", () => {
    const file = newFile();
    writeFileSync(file, nobody);
    expect(() => new KnownCallers({ tokens: nobody }, log)).toThrow("AUTH_TOKENS: holds no token");
    expect(() => new KnownCallers({ tokensFile: file }, log)).toThrow(`AUTH_TOKENS_FILE: ${file}: holds no token`);
    expect(() => new KnownCallers({ tokensFile: `${file}-away` }, log)).toThrow("AUTH_TOKENS_FILE: ENOENT");
  });

  it("is none beside an identity provider, but is said; and the file is read once it is there", async () => {
    const kept = keptLog();
    const file = newFile();
    const { token, line } = newToken("ci", "operator");
    const callers = new KnownCallers({ tokensFile: file, oidc: settingsOf(), everyMs: 10 }, kept);
    onTestFinished(() => callers.close());
    expect((await callers.identify(await provider.sign())).kind).toBe("known");
    expect((await callers.identify(token)).kind).toBe("refused");
    const warned = [{ level: "warn", fields: expect.objectContaining({ event: "no-tokens" }) }];
    expect(kept.lines).toMatchObject(warned);
    writeFileSync(file, line);
    await eventually(async () => expect((await callers.identify(token)).kind).toBe("known"));
    expect(new KnownCallers({ tokens: nobody, oidc: settingsOf() }, kept).isConfigured).toBe(true);
  });
});

describe("the claim that gives the role", () => {
  const words = { ops: "admin", devs: "operator", viewer: "viewer" } as const;

  it("is found by its name, though that has dots, or by a path", () => {
    expect(claimAt({ "https://a.example/roles": 1 }, "https://a.example/roles")).toBe(1);
    expect(claimAt({ realm_access: { roles: ["x"] } }, "realm_access.roles")).toEqual(["x"]);
    for (const path of ["nothing", "a.b.c", "__proto__", "constructor.name", "realm_access.roles.length.x", ""])
      expect(claimAt({ a: "text" }, path), path).toBeUndefined();
  });

  it("gives the highest of the roles that its words stand for", () => {
    expect(roleOf(["viewer", "ops", "devs"], words)).toBe("admin");
    expect(roleOf("openid devs viewer", words)).toBe("operator");
    expect(roleOf("viewer", words)).toBe("viewer");
    for (const nothing of [undefined, null, "", [], ["Ops"], ["operator"], [["ops"]], { ops: 1 }, true])
      expect(roleOf(nothing, words), JSON.stringify(nothing)).toBeUndefined();
  });
});
