import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  describeSettings,
  flag,
  loadSettings,
  oneOf,
  SettingsError,
  text,
  wholeNumber,
  wholeNumberOrAuto,
  withTraits,
} from "@unacked/settings";
import { afterAll, describe, expect, test } from "vitest";
import { z } from "zod";

const Settings = z.object({
  URL: withTraits(text().describe("where"), { secret: true, orFile: true }),
  PORT: wholeNumber(0, 65_535).default(80).describe("which port"),
  MODE: oneOf(["fast", "safe"]).default("safe"),
  LOUD: flag().optional(),
});

const dir = mkdtempSync(join(tmpdir(), "unacked-settings-"));
afterAll(() => rmSync(dir, { recursive: true }));

function fileWith(content: string, name = "config.yaml"): string {
  const path = join(dir, name);
  writeFileSync(path, content);
  return path;
}

function problemsOf(env: Record<string, string>, file?: string): readonly string[] {
  try {
    loadSettings(Settings, { env, file });
  } catch (error) {
    if (error instanceof SettingsError) return error.problems;
    throw error;
  }
  return [];
}

describe("settings", () => {
  test("come from the environment, as numbers and words, with their defaults", () => {
    expect(loadSettings(Settings, { env: { URL: "x", PORT: "8080", LOUD: "true", OTHER: "y" } })).toEqual({
      URL: "x",
      PORT: 8080,
      MODE: "safe",
      LOUD: true,
    });
  });
  test("come from a YAML or JSON file, and the environment wins", () => {
    const file = fileWith("URL: from-file\nPORT: 1\nMODE: fast\n");
    expect(loadSettings(Settings, { env: { PORT: "2" }, file })).toEqual({ URL: "from-file", PORT: 2, MODE: "fast" });
    expect(loadSettings(Settings, { env: {}, file: fileWith('{"URL": "json"}', "config.json") }).URL).toBe("json");
  });
  test("that are empty in the environment count as not given", () => {
    expect(loadSettings(Settings, { env: { URL: "x", PORT: "" } }).PORT).toBe(80);
  });
  test("can stand in a file of their own, where they are secrets", () => {
    const secret = fileWith("amqp://secret\n", "secret");
    expect(loadSettings(Settings, { env: { URL_FILE: secret } }).URL).toBe("amqp://secret");
    expect(loadSettings(Settings, { env: { URL_FILE: secret }, file: fileWith("URL: other") }).URL).toBe("amqp://secret");
    expect(problemsOf({ URL_FILE: secret, URL: "x" })).toEqual(["URL: give it or URL_FILE, not both"]);
    expect(problemsOf({ URL_FILE: "/nowhere" })[0]).toContain("URL_FILE: ENOENT");
  });
  test("that are wrong are all named, each with what it must be", () => {
    expect(problemsOf({ PORT: "eighty", MODE: "slow", LOUD: "yes" })).toEqual([
      "URL: is required",
      "PORT: must be a whole number from 0 to 65535",
      "MODE: must be one of fast, safe",
      "LOUD: must be true or false",
    ]);
    expect(problemsOf({ URL: "x", PORT: "65536" })).toHaveLength(1);
  });
  test("that may be a number or auto say so, whatever else is given", () => {
    const problemOf = (slots: string) => {
      const { success, error } = wholeNumberOrAuto(0, 9).safeParse(slots);
      return success ? undefined : error?.issues.map(({ message }) => message);
    };
    expect(["auto", "0", "9"].map(problemOf)).toEqual([undefined, undefined, undefined]);
    for (const wrong of ["-1", "10", "1.5", "many", "AUTO"])
      expect(problemOf(wrong), wrong).toEqual(["must be a whole number from 0 to 9, or auto"]);
  });
  test("that the file has and nobody knows are named", () => {
    expect(problemsOf({ URL: "x" }, fileWith("PROT: 1"))).toEqual([
      `PROT: there is no such setting (in ${join(dir, "config.yaml")})`,
    ]);
  });
  test.each([["- a list"], ["just words"], ["{ broken"]])("in a file that is %j are refused with its name", (content) => {
    expect(problemsOf({ URL: "x" }, fileWith(content))[0]).toContain("config.yaml");
  });
  test("describe themselves, for the docs", () => {
    expect(describeSettings(Settings).slice(0, 2)).toEqual([
      { name: "URL or URL_FILE", description: "where", defaultValue: undefined, required: true, secret: true },
      { name: "PORT", description: "which port", defaultValue: 80, required: false, secret: false },
    ]);
  });
});
