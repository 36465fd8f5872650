import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TaskView, TypeList } from "@unacked/contracts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { gapsMs, percentile } from "../support/acts/gaps.ts";
import type { Act } from "../support/acts/invariants.ts";
import { eventually } from "../support/eventually.ts";
import { scrape } from "../support/monitoring/scrape.ts";
import { slotsOf } from "../support/processes/process-tree.ts";
import { temporaryFolder } from "../support/servers/servers.ts";
import { freshSystem, type System } from "../support/system/system.ts";

const OBSERVERS = 60;
const STEADY = 5;

/** Stamps as the type `stamp` does, and with each stamp the version of its code. */
const observer = (type: string, version: string) => `
import { appendFileSync } from "node:fs";
import { defineObserver, sleep } from "@unacked/sdk";
import { z } from "zod";
${version}
export default defineObserver({
  type: "${type}",
  params: z.object({ file: z.string() }),
  async run({ params: { file }, signal, observer, runId }) {
    const write = (kind: string) => {
      const who = { observerId: observer.id, runId, pid: process.ppid, slot: process.pid, version };
      appendFileSync(file, JSON.stringify({ ...who, kind, monotonicNs: String(process.hrtime.bigint()) }) + "\\n");
    };
    write("start");
    while (await sleep(20, signal)) write("act");
    write("stop");
  },
});
`;
const IMPORTED = `import { version } from "./lib/version.js";`;
const task = `
import { existsSync } from "node:fs";
import { defineTask, sleep } from "@unacked/sdk";
import { z } from "zod";
${IMPORTED}
export default defineTask({
  type: "patient",
  params: z.object({ untilThere: z.string() }),
  async run({ params: { untilThere }, signal }) {
    while (!existsSync(untilThere) && (await sleep(50, signal)));
    return { version };
  },
});
`;

const dir = temporaryFolder("reload");
const file = (name: string) => join(dir, name);
const save = (name: string, text: string) => writeFileSync(file(name), text);
const saveVersion = (version: number) => save("lib/version.ts", `export const version: number = ${version};\n`);
mkdirSync(file("lib"));
saveVersion(1);
save("stamp.ts", observer("stamp", IMPORTED));
save("counter.ts", observer("counter", "const version = 1;"));
save("patient.ts", task);

describe("SIGHUP to a service", { timeout: 480_000 }, () => {
  let system: System;
  let stamps: string[];
  let steady: string[];

  beforeAll(async () => {
    system = await freshSystem({ env: { SLOTS: "2", OBSERVERS_DIR: dir } });
    await system.startManager();
    await system.startService("a", { workers: 200, env: { OBSERVERS_DIR: dir } });
    stamps = await system.createCrowd("changed", OBSERVERS);
    steady = await system.createCrowd("steady", STEADY, {}, { type: "counter" });
  }, 240_000);
  afterAll(() => system?.close());

  const hangUp = () => process.kill(system.service("a").pid, "SIGHUP");
  const lastActs = (ids: string[]) => {
    const last = new Map(system.acts().map((act) => [act.observerId, act as Act & { version: number }]));
    return ids.map((id) => last.get(id));
  };
  const untilAllRunBy = (version: number) =>
    eventually(() => expect(lastActs(stamps).filter((act) => act?.version !== version)).toEqual([]), {
      timeoutMs: 60_000,
      what: `all on version ${version}`,
    });
  const runsOf = (ids: string[]) =>
    ids.map((id) => new Set(system.acts().flatMap((act) => (act.observerId === id ? act.runId : []))).size);
  const linesWith = (event: string) => system.service("a").lines.filter((line) => line.includes(`"${event}"`));

  it("has observers of changed code go over, with their messages, while the others and tasks stay where they are", async () => {
    const isThere = file("the-task-may-end");
    const old = await system.call<TaskView>("POST", "/api/v1/tasks", { type: "patient", params: { untilThere: isThere } });
    await eventually(async () => expect((await taskOf(old.body.id)).status).toBe("Running"));
    const slots = slotsOf(system.service("a").pid);
    saveVersion(2);
    hangUp();
    await untilAllRunBy(2);
    expect(runsOf(stamps)).toEqual(stamps.map(() => 2));
    expect(runsOf(steady)).toEqual(steady.map(() => 1));
    expect(lastActs(stamps).filter((act) => slots.includes(act?.slot ?? 0))).toEqual([]);
    expect((await system.get(stamps[0] ?? "")).attempts).toBe(1);

    const young = await system.call<TaskView>("POST", "/api/v1/tasks", { type: "patient", params: { untilThere: isThere } });
    await eventually(async () => expect((await taskOf(young.body.id)).status).toBe("Running"));
    writeFileSync(isThere, "");
    await eventually(async () => {
      expect(await taskOf(old.body.id)).toMatchObject({ status: "Completed", output: { version: 1 } });
      expect(await taskOf(young.body.id)).toMatchObject({ status: "Completed", output: { version: 2 } });
    });
    const { url } = await system.service("a").waitForEvent("listening");
    const figures = await scrape(String(url));
    expect(figures.value("unacked_service_deliveries_total", { redelivered: "true" }) ?? 0).toBe(0);
    await system.check();
    const gaps = [...gapsMs(system.acts()).values()].flat();
    console.log(
      `${gaps.length} observers went over to new code, without a run p50 ${percentile(gaps, 0.5)} ms, p99 ${percentile(gaps, 0.99)} ms, at most ${percentile(gaps, 1)} ms (acts are 20 ms apart)`,
    );
  });

  it("that finds a syntax error shows it, and the old code stays in use, also when a slot dies", async () => {
    const before = runsOf(stamps);
    save("stamp.ts", observer("stamp", IMPORTED).replace("signal, observer, runId }) {", "signal, observer, runId ) {"));
    hangUp();
    const refused = await eventually(() => {
      const [line] = linesWith("reload-refused");
      return line ?? Promise.reject(new Error("nothing is refused yet"));
    });
    expect(refused).toContain("stamp.ts:9:");
    expect(refused).toContain(">  9 |   async run({ params: { file }, signal, observer, runId ) {");
    await system.check();
    expect(runsOf(stamps)).toEqual(before);

    const doomed = lastActs(stamps)[0]?.slot ?? 0;
    process.kill(doomed, "SIGKILL");
    await eventually(() => expect(linesWith("slot-lacks-types").join()).toContain("stamp.ts:9"), { timeoutMs: 60_000 });
    await system.check();
    expect(lastActs(stamps).filter((act) => act?.slot === doomed || act?.version !== 2)).toEqual([]);

    save("stamp.ts", observer("stamp", IMPORTED));
    saveVersion(3);
    hangUp();
    hangUp();
    await untilAllRunBy(3);
    await system.check();
  });

  it("brings types that are new, and takes away those that are gone", async () => {
    const typesThere = async () => (await system.call<TypeList>("GET", "/api/v1/types")).body.items.map(({ type }) => type);
    save("walker.ts", observer("walker", "const version = 1;"));
    hangUp();
    await eventually(async () => expect(await typesThere()).toContain("walker"), { timeoutMs: 60_000 });
    const [walker = ""] = await system.createCrowd("new", 1, {}, { type: "walker" });
    rmSync(file("walker.ts"));
    hangUp();
    await eventually(async () => expect(await typesThere()).not.toContain("walker"), { timeoutMs: 60_000 });
    await eventually(async () => expect((await system.get(walker)).status).not.toBe("Processing"));
    save("walker.ts", observer("walker", "const version = 2;"));
    hangUp();
    await system.untilStatus([walker], "Processing", 60_000);
    await system.check();
  });

  it("and SIGKILL in the middle of it lose nothing, and run nothing twice", async () => {
    saveVersion(4);
    hangUp();
    await eventually(() => expect(lastActs(stamps).some((act) => act?.version === 4)).toBe(true), { timeoutMs: 60_000 });
    await system.service("a").kill("SIGKILL");
    await system.startService("a", { workers: 200, env: { OBSERVERS_DIR: dir } });
    await untilAllRunBy(4);
    await system.check();
  });

  it("is refused where observers run in its own process, with the reason", async () => {
    const alone = await system.startService("b", { env: { OBSERVERS_DIR: dir, SLOTS: "0", POOL: "alone" } });
    process.kill(alone.pid, "SIGHUP");
    await eventually(() =>
      expect(alone.lines.join("\n")).toContain("with SLOTS=0 observers run in the service's own process"),
    );
    expect(alone.exit()).toBeNull();
  });

  const taskOf = async (id: string) => (await system.call<TaskView>("GET", `/api/v1/tasks/${id}`)).body;
});
