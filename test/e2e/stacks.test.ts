import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ObserverView, Role, RunList } from "@unacked/contracts";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { ROOT } from "../support/processes/processes.ts";
import { runCli } from "../support/processes/unacked-cli.ts";
import { followEvents } from "../support/rest/event-client.ts";
import { callHttp } from "../support/rest/rest-client.ts";
import { openApi } from "../support/rest/rest-contract.ts";
import { bearer, roleTokens } from "../support/rest/tokens.ts";
import { temporaryFolder } from "../support/servers/servers.ts";
import { freshSystem, type System } from "../support/system/system.ts";

const FOLDER = join(ROOT, "test/fixtures/throwing-observers");
const SOURCE = join(FOLDER, "throws.ts");
/** Where the author wrote `throw`. */
const THROWN_AT = `throws.ts:${readFileSync(SOURCE, "utf8").split("throw new")[0]?.split("\n").length}:`;
const MESSAGE = "no value\n    at all";

const tokens = roleTokens();
const cwd = temporaryFolder("stacks");
let system: System;
let observer: ObserverView;
let errorId: string;

beforeAll(async () => {
  const tokensFile = join(cwd, "tokens.txt");
  writeFileSync(tokensFile, tokens.list);
  system = await freshSystem({ env: { AUTH_TOKENS_FILE: tokensFile }, token: tokens.of.admin });
  await system.startManager();
  await system.startService("service-1", { env: { OBSERVERS_DIR: FOLDER } });
  observer = await failed("throws-first", {});
  await system.management.publish({ exchange: "", routingKey: "unacked.state", body: unreadable() });
  errorId = await eventually(async () => {
    const { body } = await system.call<{ items: { id: string }[] }>("GET", "/api/v1/errors?reason=unreadable");
    expect(body.items).toHaveLength(1);
    return body.items[0]?.id ?? "";
  });
});
afterAll(() => system.close());

/** A batch that does not decode, with somebody's error in it. */
const unreadable = () =>
  JSON.stringify({
    kind: "EventBatch",
    events: [{ error: { name: "Error", message: "x", stack: `at f (${THROWN_AT}9)` } }],
  });

async function failed(name: string, more: object): Promise<ObserverView> {
  const json = { name, type: "throws", retry: { maxAttempts: 2, delaysMs: [10] }, ...more };
  const { body } = await callHttp(`${system.url}/api/v1/observers`, "POST", { json, headers: bearer(tokens.of.operator) });
  await system.untilStatus([body.id], "Failed");
  return await system.get(body.id);
}

const read = async <T>(path: string, role: Role) =>
  (await callHttp(`${system.url}/api/v1${path}`, "GET", { headers: bearer(tokens.of[role]) })).body as T;

describe("an error that a handler throws", () => {
  it("is told with the author's own file and line, and its message once", async () => {
    const { lastError } = await read<ObserverView>("/observers/throws-first", "operator");
    expect(lastError).toMatchObject({ name: "TypeError", message: MESSAGE, group: "TypeError: no value at all" });
    const [innermost, ...others] = lastError?.stack?.split("\n") ?? [];
    expect(innermost).toMatch(/^at valueOf \(.*\)$/);
    expect(innermost).toContain(`${FOLDER}/${THROWN_AT}`);
    expect(others.every((line) => line.startsWith("at ") && line !== "at all")).toBe(true);
    const runs = await read<RunList>("/observers/throws-first/runs", "admin");
    expect(runs.items[0]?.error).toEqual({ name: "TypeError", message: MESSAGE, stack: lastError?.stack });
  });

  it("has its place also in JavaScript that was compiled elsewhere and brings its map", async () => {
    const outdir = temporaryFolder("compiled");
    const outExtension = { ".js": ".mjs" };
    await build({ entryPoints: [SOURCE], outdir, outExtension, format: "esm", sourcemap: "inline", banner: { js: "\n\n" } });
    await system.startService("service-2", { env: { OBSERVERS_DIR: outdir, POOL: "compiled" } });
    await failed("throws-compiled", { pool: "compiled" });
    const { lastError } = await read<ObserverView>("/observers/throws-compiled", "operator");
    expect(lastError?.stack?.split("\n")[0]).toContain(THROWN_AT);
  });

  it("stands in its log with its stack, which a viewer is not given", async () => {
    for (const role of ["viewer", "operator"] as const) {
      const logs = await read("/observers/throws-first/logs", role);
      const thrown = {
        kind: "log",
        level: "error",
        message: `the handler failed: TypeError: ${MESSAGE}`,
        cut: false,
        ...(role === "operator" && { stack: expect.stringContaining(THROWN_AT) }),
      };
      const stamp = { seq: expect.any(Number), at: expect.any(String) };
      expect(logs).toMatchObject({
        reason: null,
        entries: [
          { ...stamp, ...thrown },
          { ...stamp, ...thrown },
        ],
      });
      expect(JSON.stringify(logs).includes("stack")).toBe(role === "operator");
    }
  });
});

/** Every call of the document with a body of its text, as one role sees it; by operationId. */
async function walk(role: Role): Promise<Map<string, string>> {
  const texts = new Map<string, string>();
  const headers = bearer(tokens.of[role]);
  for (const [path, operations] of Object.entries(openApi().paths))
    for (const [method, { operationId, responses }] of Object.entries(operations)) {
      const isStream = responses["200"]?.content?.["application/json"] === undefined && operationId === "followChanges";
      if (isStream || (method !== "get" && role !== "viewer")) continue;
      const filled = path.replace("{ref}", observer.id).replace("{errorId}", errorId).replace("{service}", "service-1");
      const json = method === "post" ? {} : undefined;
      const { text } = await callHttp(`${system.url}${filled}`, method.toUpperCase(), { headers, json });
      texts.set(operationId, text);
    }
  return texts;
}

/** All that both streams say while the observer fails once more. */
async function streamed(role: Role): Promise<string> {
  const headers = bearer(tokens.of[role]);
  const changes = await followEvents(`${system.url}/api/v1/events`, headers);
  await eventually(() => expect(changes.events.map(({ event }) => event)).toContain("ready"));
  const failedBefore = changes.events.length;
  await callHttp(`${system.url}/api/v1/observers/${observer.id}/restart`, "POST", { headers: bearer(tokens.of.operator) });
  await eventually(() =>
    expect(changes.events.slice(failedBefore).map(({ data }) => [data.status, data.lastError?.name])).toContainEqual([
      "Failed",
      "TypeError",
    ]),
  );
  const logs = await followEvents(`${system.url}/api/v1/observers/${observer.id}/logs?follow=true`, headers);
  await logs.ended;
  expect(logs.events.map(({ event }) => event)).toContain("entry");
  changes.close();
  return JSON.stringify([changes.events, logs.events]);
}

describe("a stack", () => {
  it("leaves by the calls that show one thing, for operators", async () => {
    const texts = await walk("operator");
    const having = [...texts].filter(([, text]) => text.includes(THROWN_AT)).map(([operationId]) => operationId);
    expect(having.toSorted()).toEqual(["getError", "getLogs", "getObserver", "listErrors", "listRuns"]);
    expect(await streamed("operator")).toContain(THROWN_AT);
  });

  it("leaves by no call at all, and no stream, for a viewer", async () => {
    const texts = await walk("viewer");
    expect(texts.size).toBeGreaterThan(25);
    expect([...texts].filter(([, text]) => text.includes("throws.ts")).map(([operationId]) => operationId)).toEqual([]);
    expect(await streamed("viewer")).not.toContain("throws.ts");
    expect((await read<ObserverView>(`/observers/${observer.id}`, "viewer")).lastError).toEqual({
      name: "TypeError",
      message: MESSAGE,
      group: "TypeError: no value at all",
      at: expect.any(String),
    });
  });
});

describe("unacked", () => {
  const unacked = (line: string, role: Role = "operator") => {
    const env = { UNACKED_URL: system.url, UNACKED_TOKEN: tokens.of[role], XDG_CONFIG_HOME: join(cwd, "config") };
    return runCli(line.split(" "), { env, cwd });
  };

  it("shows where an error was thrown: describe, logs, get runs -o wide", async () => {
    const place = new RegExp(`^ {4}at valueOf \\(.*${THROWN_AT}\\d+\\)$`, "m");
    expect((await unacked("describe throws-first")).out).toMatch(place);
    expect((await unacked("logs throws-first")).out).toMatch(place);
    expect((await unacked("get runs throws-first -o wide")).out).toContain(THROWN_AT);
    for (const line of ["describe throws-first", "logs throws-first", "get runs throws-first -o wide"])
      expect((await unacked(line, "viewer")).out, line).not.toContain("throws.ts");
  });

  it("tells what a run threw also when its lines are gone with its service", async () => {
    await system.service("service-1").kill("SIGKILL");
    await eventually(
      async () => {
        const { code, out, err } = await unacked("logs throws-first");
        expect({ code, out, err }).toMatchObject({ code: 0, out: "" });
        expect(err).toContain(
          "observer throws-first is Failed: its lines were lost when the service that ran it last ended.\n",
        );
        expect(err).toContain("Its last error: TypeError: no value\\n    at all\n    at valueOf (");
      },
      { timeoutMs: 30_000 },
    );
    const { err } = await unacked("logs throws-first", "viewer");
    expect(err).toContain("Its last error: TypeError: no value\\n    at all\n");
    expect(err).not.toContain("throws.ts");
  });
});
