import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { ROOT, startProcess } from "../support/processes/processes.ts";
import { bearer, roleTokens } from "../support/rest/tokens.ts";
import { OBSERVERS_DIR } from "../support/runs/observers-dir.ts";
import { freshSystem, type System } from "../support/system/system.ts";

const SECRET = "hush-7f3a91";
const tokens = roleTokens();

describe("what the programs log, at level debug", () => {
  let system: System;
  const lines = (): string[] => [...system.managers, ...system.services.values()].flatMap((each) => [...each.lines]);
  const decoded = (): Record<string, unknown>[] => lines().map((line) => JSON.parse(line) as Record<string, unknown>);

  beforeAll(async () => {
    system = await freshSystem({ env: { LOG_LEVEL: "debug" } });
    await system.startManager();
    await system.startService("service-1");
  });
  afterAll(() => system.close());

  it("is JSON, each line with its level, its time and whose it is; of a run with observer and run, of a request with its id", async () => {
    await system.createMany("logged", 1);
    const all = decoded();
    expect(all.length).toBeGreaterThan(10);
    const isLabelled = ({ level, time, manager, service }: Record<string, unknown>) =>
      typeof level === "string" && typeof time === "string" && typeof (manager ?? service) === "string";
    expect(all.filter((line) => !isLabelled(line))).toEqual([]);
    expect(all.find(({ event }) => event === "run-started")).toMatchObject({
      service: "service-1",
      observer: "logged-0",
      type: "stamp",
      observerId: expect.any(String),
      runId: expect.any(String),
    });
    expect(all.find(({ method }) => method === "POST")).toMatchObject({ requestId: expect.any(String), status: 201 });
  });

  it("holds no params: not of observers that run, fail, are refused or cannot be read", async () => {
    const failing = { throwAfterMs: 1, blockWhenFile: `/tmp/${SECRET}` };
    expect((await system.create("fails", failing, { retry: ONCE })).status).toBe(201);
    expect((await system.create("runs", { returnWhenFile: `/tmp/${SECRET}` })).status).toBe(201);
    expect((await system.create("refused", { nonsense: SECRET })).status).toBe(422);
    await system.call("POST", "/api/v1/observers", { name: "wrong", type: "stamp", params: {}, [SECRET]: SECRET });
    await system.untilStatus(["fails"], "Failed");
    await system.untilStatus(["runs"], "Processing");
    const body = Buffer.from(JSON.stringify({ kind: "StartObserver", params: SECRET }));
    await system.management.publish({ exchange: "unacked.start", routingKey: "default", body: body.toString() });
    await eventually(() => expect(decoded().some(({ event }) => event === "unreadable-message")).toBe(true));
    await system.call("POST", "/api/v1/observers/runs/restart");
    expect(lines().filter((line) => line.includes(SECRET))).toEqual([]);
  });

  it("holds no token, right or wrong", async () => {
    await system.startManager({ env: { AUTH_TOKENS: tokens.list.replaceAll("\n", ",") }, speakTo: false });
    const url = String((await system.managers.at(-1)?.waitForEvent("listening"))?.url);
    const wrong = `unacked_${SECRET}`;
    const ask = async (token: string) =>
      (await fetch(`${url}/api/v1/stats?token=${token}`, { headers: bearer(token) })).status;
    // Let in, and told that there is no such parameter; not let in.
    expect([await ask(tokens.of.viewer), await ask(wrong)]).toEqual([400, 401]);
    const sent = [...Object.values(tokens.of), wrong, SECRET];
    expect(lines().filter((line) => sent.some((token) => line.includes(token)))).toEqual([]);
  });
});

describe("a program that cannot reach its servers, or cannot start", () => {
  const ENV = { HOST: "127.0.0.1", PORT: "0", OBSERVERS_DIR, LOG_LEVEL: "debug" };
  const start = (program: string, env: Record<string, string>) =>
    startProcess({ file: `services/${program}/bundle/main.js`, env: { ...ENV, ...env } });

  it("tells of an address without its password", async () => {
    const AMQP_URL = `amqp://user:${SECRET}@127.0.0.1:1/`;
    const DATABASE_URL = `postgres://user:${SECRET}@127.0.0.1:1/books`;
    const service = start("observer-service", { AMQP_URL });
    const manager = start("observer-manager", { AMQP_URL, DATABASE_URL });
    await service.waitForLine((line) => line.includes("cannot connect to the broker"));
    await manager.waitForLine((line) => line.includes("PostgreSQL cannot be reached"));
    await Promise.all([service.kill(), manager.kill()]);
    expect([...service.lines, ...manager.lines].filter((line) => line.includes(SECRET))).toEqual([]);
  });

  it.each([
    ["observer-service", { AMQP_URL: `amqp//user:${SECRET}@host` }],
    ["observer-manager", { AMQP_URL: "amqp://h", DATABASE_URL: "postgres://h/d", AUTH_TOKENS: `me admin ${SECRET}` }],
  ])("names a setting that is wrong without its value (%s)", async (program, env) => {
    const process = start(program, env);
    expect(await process.exited).toMatchObject({ code: 2 });
    expect(process.lines.length).toBeGreaterThan(0);
    expect(process.lines.filter((line) => line.includes(SECRET))).toEqual([]);
  });

  it.each(["observer-manager", "observer-service"])(
    "replaces params and authorization wherever they are logged (%s)",
    (program) => {
      const log = join(ROOT, `services/${program}/dist/log.js`);
      const fields = { params: SECRET, fields: { params: SECRET }, headers: { authorization: SECRET } };
      const script = `import { createLog } from ${JSON.stringify(log)}; createLog("info", {}).info(${JSON.stringify(fields)}, "x");`;
      const { stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" });
      expect(JSON.parse(stdout)).toMatchObject({ params: "(not logged)", fields: { params: "(not logged)" }, msg: "x" });
      expect(stdout).not.toContain(SECRET);
    },
  );
});

const ONCE = { maxAttempts: 1, delaysMs: [10], resetAfterMs: 60_000 };
