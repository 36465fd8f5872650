import { loadSettings, SettingsError } from "@unacked/settings";
import { describe, expect, it } from "vitest";
import { ManagerSettings } from "../../../services/observer-manager/src/settings.ts";
import { basePathOf } from "../../../services/status-page/src/wire/base-path.ts";

const SERVERS = { AMQP_URL: "amqp://broker", DATABASE_URL: "postgres://db/x" };

const load = (path: string | undefined) => loadSettings(ManagerSettings, { env: { ...SERVERS, BASE_PATH: path } }).BASE_PATH;

describe("BASE_PATH", () => {
  it("is a path, of one part or several; none unless it is set", () => {
    for (const path of ["/unacked", "/a", "/tools/unacked-2", "/~me/Un_acked"]) expect(load(path)).toBe(path);
    expect([load(undefined), load("")]).toEqual(["", ""]);
  });

  it.each([
    "unacked",
    "/",
    "/unacked/",
    "//unacked",
    "/a//b",
    "/../unacked",
    "/unacked/.",
    "/un.acked",
    "/unacked?a=b",
    "/unacked#a",
    "/un acked",
    "/%75nacked",
    "/{ref}",
    "/:ref",
    "/*",
    '/"onload="',
    "https://example.org/unacked",
  ])("is not %s, and the manager says what it is instead", (path) => {
    const refused = expect.objectContaining({
      problems: [expect.stringMatching(/^BASE_PATH: .*must begin with \/ .*no dots/)],
    });
    expect(() => load(path)).toThrow(SettingsError);
    expect(() => load(path)).toThrow(refused);
  });

  it("is none of those that stay at the root", () => {
    expect(() => load("/healthz")).toThrow(/must not be one of \/healthz, \/readyz, \/metrics/);
    expect(load("/healthz/x")).toBe("/healthz/x");
  });
});

describe("the page", () => {
  it("knows its base path by where its scripts lie", () => {
    expect(basePathOf("https://example.org/assets/page-abc.js")).toBe("");
    expect(basePathOf("https://example.org/unacked/assets/page-abc.js")).toBe("/unacked");
    expect(basePathOf("https://example.org/a/assets/assets/page-abc.js?x")).toBe("/a/assets");
    expect(basePathOf(import.meta.url)).toBe("");
  });
});
