import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  contextFilePath,
  isReadableByOthers,
  readContextFile,
  writeContextFile,
} from "../../../cli/src/config/context-file.ts";
import { chooseAddress, DEFAULT_URL, toBaseUrl, withContext, withoutContext } from "../../../cli/src/config/contexts.ts";

const file = {
  current: "live",
  contexts: { live: { url: "https://live.example", token: "live-token" }, local: { url: "http://127.0.0.1:1" } },
};

describe("which manager", () => {
  const chosen = (given: object) => chooseAddress(file, { env: {}, ...given });
  const env = { UNACKED_URL: "http://env.example", UNACKED_TOKEN: "env-token" };

  it("is the current context's, with its token", () => {
    expect(chosen({})).toEqual({ url: "https://live.example", token: "live-token", tls: {}, from: "context live" });
  });

  it("is the environment's rather than the context's, and the command line's rather than both", () => {
    expect(chosen({ env })).toMatchObject({ url: "http://env.example", token: "env-token" });
    expect(chosen({ env, context: "local" })).toMatchObject({ url: "http://127.0.0.1:1", token: undefined });
    expect(chosen({ env, url: "flag.example:80", token: "t" })).toMatchObject({ url: "http://flag.example", token: "t" });
    expect(chosen({ env: { UNACKED_TOKEN: "t" } })).toMatchObject({ url: "https://live.example", token: "t" });
  });

  it("never gets a token that was given for another address", () => {
    expect(chosen({ url: "http://other.example" }).token).toBeUndefined();
    expect(chosen({ env: { UNACKED_URL: "http://other.example" } }).token).toBeUndefined();
    expect(chosen({ env, context: "live" }).token).toBe("live-token");
  });

  it("gets UNACKED_TOKEN if it is that of UNACKED_URL, or if that is not set", () => {
    expect(chosen({ env, url: "http://other.example" }).token).toBeUndefined();
    expect(chosen({ env, url: "env.example:80/" }).token).toBe("env-token");
    const alone = { UNACKED_TOKEN: "t", UNACKED_URL: "" };
    expect(chosen({ env: alone, url: "http://other.example" }).token).toBe("t");
    expect(chosen({ env: alone, context: "local" }).token).toBe("t");
    expect(chosen({ env: alone, context: "live" }).token).toBe("live-token");
    expect(chosen({ env: alone, context: "local", token: "mine" }).token).toBe("mine");
  });

  it("is that of npm start when nothing says otherwise; empty variables say nothing", () => {
    const empty = { UNACKED_URL: "", UNACKED_TOKEN: "" };
    expect(chooseAddress({ contexts: {} }, { env: empty })).toEqual({
      url: DEFAULT_URL,
      token: undefined,
      tls: {},
      from: "the default",
    });
  });

  it("gets a context's certificate as it gets its token; what stands on the command line wins, then the environment", () => {
    const files = { certificateAuthority: "ca", clientCertificate: "cert", clientKey: "key" };
    const withFiles = { current: "live", contexts: { live: { url: "https://live.example", ...files } } };
    const tlsOf = (given: object) => chooseAddress(withFiles, { env: {}, ...given }).tls;
    expect(tlsOf({})).toEqual(files);
    expect(tlsOf({ tls: { certificateAuthority: "other" } })).toEqual({ ...files, certificateAuthority: "other" });
    const envFiles = { UNACKED_CLIENT_CERTIFICATE: "c", UNACKED_CLIENT_KEY: "k", UNACKED_CERTIFICATE_AUTHORITY: "" };
    expect(tlsOf({ env: envFiles })).toEqual({ ...files, clientCertificate: "c", clientKey: "k" });
    expect(tlsOf({ env: envFiles, tls: { clientKey: "mine" } })).toMatchObject({
      clientCertificate: "c",
      clientKey: "mine",
    });
    expect(tlsOf({ url: "https://other.example" })).toEqual({});
    expect(tlsOf({ env: { UNACKED_URL: "https://other.example" } })).toEqual({});
  });

  it("must be a context that is there", () => {
    expect(() => chosen({ context: "gone" })).toThrow('There is no context "gone"');
    expect(() => chosen({ context: "constructor" })).toThrow("There is no context");
  });
});

describe("an address", () => {
  it.each([
    ["localhost:8080", "http://localhost:8080"],
    ["https://x.example/unacked/", "https://x.example/unacked"],
    ["http://[::1]:80/", "http://[::1]"],
  ])("%s is %s", (text, url) => expect(toBaseUrl(text)).toBe(url));

  it.each(["", "ftp://x", "http://", "http://x/?a=1", "http://user:secret@x"])("%s is none", (text) => {
    expect(() => toBaseUrl(text)).toThrow(/not an address|password/);
  });
});

describe("a change of contexts", () => {
  it("makes the first one current, and keeps what is not said", () => {
    const first = withContext({ contexts: {} }, "a", { url: "http://a", token: "t" });
    expect(first).toEqual({ current: "a", contexts: { a: { url: "http://a", token: "t" } } });
    expect(withContext(first, "a", { token: "u" }).contexts.a).toEqual({ url: "http://a", token: "u" });
    expect(withContext(first, "b", { url: "http://b" }).current).toBe("a");
    expect(() => withContext(first, "b", {})).toThrow("needs an address");
  });

  it("drops the token with the address that it was for, and the certificate", () => {
    const files = { clientCertificate: "c", clientKey: "k" };
    const before = withContext({ contexts: {} }, "a", { url: "http://a", ...files });
    expect(withContext(before, "a", { token: "t" }).contexts.a).toEqual({ url: "http://a", token: "t", ...files });
    expect(withContext(before, "a", { url: "http://b" }).contexts.a).toEqual({ url: "http://b" });
    expect(withContext(file, "live", { url: "http://else" }).contexts.live).toEqual({ url: "http://else" });
  });

  it("leaves no current context that is not there", () => {
    expect(withoutContext(file, "live")).toEqual({ contexts: { local: file.contexts.local } });
    expect(withoutContext(file, "local").current).toBe("live");
    expect(() => withoutContext(file, "gone")).toThrow("There is no context");
  });
});

describe("the file of contexts", () => {
  let folder: string;
  let path: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "unacked-cli-"));
    path = contextFilePath({ XDG_CONFIG_HOME: folder });
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it("is where XDG says, and below the home folder otherwise", () => {
    expect(path).toBe(join(folder, "unacked", "config.yaml"));
    expect(contextFilePath({ HOME: "/home/x" })).toBe("/home/x/.config/unacked/config.yaml");
    expect(contextFilePath({ HOME: "/home/x", XDG_CONFIG_HOME: "relative" })).toBe("/home/x/.config/unacked/config.yaml");
  });

  it("comes back as it was written, and is its owner's alone", () => {
    expect(readContextFile(path)).toEqual({ contexts: {} });
    writeContextFile(path, file);
    expect(readContextFile(path)).toEqual(file);
    expect([statSync(path).mode & 0o777, statSync(dirname(path)).mode & 0o777]).toEqual([0o600, 0o700]);
    expect(readdirSync(dirname(path))).toEqual(["config.yaml"]);
  });

  it("becomes its owner's alone when it was not", () => {
    writeContextFile(path, file);
    chmodSync(path, 0o644);
    expect(isReadableByOthers(path)).toBe(true);
    writeContextFile(path, file);
    expect(isReadableByOthers(path)).toBe(false);
  });

  it("is refused with its place when somebody broke it", () => {
    writeContextFile(path, file);
    writeFileSync(path, "contexts:\n  a: {uri: http://x}\n");
    expect(() => readContextFile(path)).toThrow(/config\.yaml is wrong: contexts\.a/);
    writeFileSync(path, "a: b: c");
    expect(() => readContextFile(path)).toThrow(/config\.yaml is not YAML/);
    expect(readFileSync(path, "utf8")).toBe("a: b: c");
  });
});
