import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AuditPage, ProblemDetails, RunList, ServiceView, TaskView, TypeList } from "@unacked/contracts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { gapsMs, percentile } from "../support/acts/gaps.ts";
import type { Act } from "../support/acts/invariants.ts";
import { eventually } from "../support/eventually.ts";
import { builtRelease, isHere, RELEASES, type Release } from "../support/messages/releases.ts";
import { scrape } from "../support/monitoring/scrape.ts";
import { slotsOf } from "../support/processes/process-tree.ts";
import { runCli } from "../support/processes/unacked-cli.ts";
import { isTurnOf } from "../support/runs/turns.ts";
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

  it.runIf(isTurnOf(1))(
    "that finds a syntax error shows it, and the old code stays in use, also when a slot dies",
    async () => {
      const before = runsOf(stamps);
      save("stamp.ts", observer("stamp", IMPORTED).replace("signal, observer, runId }) {", "signal, observer, runId ) {"));
      hangUp();
      const refused = await eventually(() => {
        const [line] = linesWith("reload-refused");
        return line ?? Promise.reject(new Error("nothing is refused yet"));
      });
      expect(refused).toContain("stamp.ts:9:");
      expect(refused).toContain(">  9 |   async run({ params: { file }, signal, observer, runId ) {");
      const { url } = await system.service("a").waitForEvent("listening");
      expect((await scrape(String(url))).value("unacked_service_reloads_total", { outcome: "refused" })).toBe(1);
      await system.check();
      expect(runsOf(stamps)).toEqual(before);

      const doomed = lastActs(stamps)[0]?.slot ?? 0;
      process.kill(doomed, "SIGKILL");
      await eventually(() => expect(linesWith("slot-lacks-types").join()).toContain("stamp.ts:9"), { timeoutMs: 60_000 });
      expect(linesWith("slot-lacks-types").join()).toContain("until it is mended and loaded again (unacked dev does so");
      await system.check();
      expect(lastActs(stamps).filter((act) => act?.slot === doomed || act?.version !== 2)).toEqual([]);

      save("stamp.ts", observer("stamp", IMPORTED));
      saveVersion(3);
      hangUp();
      hangUp();
      await untilAllRunBy(3);
      await system.check();
    },
  );

  it.runIf(isTurnOf(2))("brings types that are new, and takes away those that are gone", async () => {
    const typesThere = async () => (await system.call<TypeList>("GET", "/api/v1/types")).body.items.map(({ type }) => type);
    save("walker.ts", observer("walker", "const version = 1;"));
    hangUp();
    await eventually(async () => expect(await typesThere()).toContain("walker"), { timeoutMs: 60_000 });
    const [walker = ""] = await system.createCrowd("new", 1, {}, { type: "walker" });
    rmSync(file("walker.ts"));
    hangUp();
    await eventually(async () => expect(await typesThere()).not.toContain("walker"), { timeoutMs: 60_000 });
    await eventually(async () => expect((await system.get(walker)).status).not.toBe("Processing"));
    const { items: runs } = (await system.call<RunList>("GET", `/api/v1/observers/${walker}/runs`)).body;
    expect(runs.map(({ endReason }) => endReason)).toEqual(["type-gone"]);
    save("walker.ts", observer("walker", "const version = 2;"));
    hangUp();
    await system.untilStatus([walker], "Processing", 60_000);
    await system.check();
  });

  it.runIf(isTurnOf(1))("and SIGKILL in the middle of it lose nothing, and run nothing twice", async () => {
    saveVersion(4);
    hangUp();
    await eventually(() => expect(lastActs(stamps).some((act) => act?.version === 4)).toBe(true), { timeoutMs: 60_000 });
    await system.service("a").kill("SIGKILL");
    await system.startService("a", { workers: 200, env: { OBSERVERS_DIR: dir } });
    await untilAllRunBy(4);
    await system.check();
  });

  it.runIf(isTurnOf(2))("is refused where observers run in its own process, with the reason", async () => {
    const alone = await system.startService("b", { env: { OBSERVERS_DIR: dir, SLOTS: "0", POOL: "alone" } });
    process.kill(alone.pid, "SIGHUP");
    await eventually(() =>
      expect(alone.lines.join("\n")).toContain("with SLOTS=0 observers run in the service's own process"),
    );
    expect(alone.exit()).toBeNull();
  });

  const taskOf = async (id: string) => (await system.call<TaskView>("GET", `/api/v1/tasks/${id}`)).body;
});

describe.runIf(isTurnOf(0))("a reload that is asked for", { timeout: 480_000 }, () => {
  const folder = temporaryFolder("reload-asked");
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
  const BROKEN = observer("stamp", "const version = 3;").replace(
    "signal, observer, runId }) {",
    "signal, observer, runId ) {",
  );
  const release = RELEASES.at(-1) as Release;
  let system: System;
  let observers: string[];

  beforeAll(async () => {
    write("stamp.ts", observer("stamp", "const version = 1;"));
    write("counter.ts", observer("counter", "const version = 1;"));
    system = await freshSystem({ env: { SLOTS: "2" } });
    await system.startManager();
    for (const [name, pool] of [
      ["one", "default"],
      ["two", "other"],
    ] as const)
      await system.startService(name, { workers: 40, env: { OBSERVERS_DIR: folder, POOL: pool } });
    observers = await system.createCrowd("asked", 10);
    await eventually(async () => expect((await ask("two")).status).toBe(202), {
      timeoutMs: 30_000,
      what: "that all managers know what a reload is",
    });
    await eventually(async () => expect((await answerOf("two"))?.outcome).toBe("unchanged"), { timeoutMs: 60_000 });
  }, 240_000);
  afterAll(() => system?.close());

  const ask = (name: string) => system.call<ServiceView & ProblemDetails>("POST", `/api/v1/services/${name}/reload`);
  const answerOf = async (name: string) =>
    (await system.listServices()).find((service) => service.name === name)?.reload?.answer;
  /** But for the lines that say each 10 s that it waits: its stream of changes waits for whoever writes anywhere on the server. */
  const unacked = async (line: string) => {
    const done = await runCli(line.split(" "), { cwd: folder, env: { UNACKED_URL: system.url, NO_COLOR: "1" } });
    return { ...done, err: done.err.replace(/^waiting for .*\n/gm, "") };
  };
  const untilRunBy = (version: number) =>
    eventually(
      () => {
        const last = new Map(system.acts().map((act) => [act.observerId, act as Act & { version: number }]));
        expect(observers.filter((id) => last.get(id)?.version !== version)).toEqual([]);
      },
      { timeoutMs: 60_000, what: `all on version ${version}` },
    );

  it("over REST is answered on the service, runs go over, and who asked stands in the audit trail", async () => {
    write("stamp.ts", observer("stamp", "const version = 2;"));
    const { status, body } = await ask("one");
    expect([status, body.reload?.answer]).toEqual([202, null]);
    const answer = await eventually(
      async () => (await answerOf("one")) ?? Promise.reject(new Error("it has not told yet")),
      { timeoutMs: 60_000 },
    );
    expect(answer).toMatchObject({ outcome: "loaded", changed: ["stamp"], added: [], gone: [], brokenFiles: [] });
    await untilRunBy(2);
    await system.check();
    const { body: trail } = await system.call<AuditPage>("GET", "/api/v1/audit?action=service.reload");
    expect(trail.items[0]?.targets).toMatchObject([{ kind: "service", name: "one" }]);
  });

  it("of a file with a mistake keeps the old code; the command says which, and fails", async () => {
    write("stamp.ts", BROKEN);
    const { code, out, err } = await unacked("reload one");
    expect([code, out]).toEqual([1, "asked to load the folder again: one\n"]);
    expect(err).toMatch(/^error: service one keeps its old code: a file does not load\.\n {2}.*stamp\.ts:9:/);
    expect(err).toContain(">  9 |   async run({ params: { file }, signal, observer, runId ) {");
    expect(await answerOf("one")).toMatchObject({ outcome: "refused", brokenFiles: [{ place: { line: 9 } }] });
    await system.check();
    await untilRunBy(2);
  });

  it("where a new file does not load has all others load, says which service lacks what, and fails", async () => {
    write("stamp.ts", observer("stamp", "const version = 2;"));
    write("fresh.ts", BROKEN);
    const one = await unacked("reload one");
    expect(one.code).toBe(1);
    expect(one.out).toContain("service one has loaded its folder again");
    expect(one.err).toMatch(/^error: service one lacks the types of a file that does not load\.\n {2}.*fresh\.ts:9:/);
    const all = await unacked("reload --all");
    expect(all.code).toBe(1);
    for (const name of ["one", "two"]) expect(all.err).toContain(`error: service ${name} lacks the types of a file`);
    expect(all.err).toMatch(/\nerror: 2 of 2 services have not loaded all of their folder\.\n$/);
    rmSync(join(folder, "fresh.ts"));
    await untilRunBy(2);
  });

  it("of all services, or of a pool, is waited for of each: the mended file runs", async () => {
    write("stamp.ts", observer("stamp", "const version = 4;"));
    const all = await unacked("reload --all --timeout 1m");
    expect([all.code, all.err]).toEqual([0, ""]);
    const lines = all.out.trimEnd().split("\n").slice(1).toSorted();
    expect(lines).toEqual(["one", "two"].map((name) => `service ${name} has loaded its folder again (changed: stamp)`));
    await untilRunBy(4);
    const other = await unacked("reload --pool other -o json");
    expect(JSON.parse(other.out)).toMatchObject({
      items: [{ name: "two", reload: { answer: { outcome: "unchanged", changed: [] } } }],
    });
    expect((await unacked("reload --pool nobodys")).err).toBe(
      "error: No service of pool nobodys lives. See: unacked get services --all.\n",
    );
  });

  it("before its manager dies is asked for by the next, and the folder is loaded once for it", async () => {
    const loadsOf = () => system.service("one").lines.filter((line) => /"types-(?:reloaded|unchanged)"/.test(line)).length;
    const before = loadsOf();
    write("stamp.ts", observer("stamp", "const version = 5;"));
    const { status } = await ask("one");
    expect(status).toBe(202);
    await Promise.all(system.managers.map((manager) => manager.kill("SIGKILL")));
    await system.startManager();
    await eventually(async () => expect(await answerOf("one")).toMatchObject({ outcome: "loaded", changed: ["stamp"] }), {
      timeoutMs: 60_000,
    });
    await untilRunBy(5);
    expect(loadsOf()).toBe(before + 1);
    await system.check();
  });

  it("of a service that drains is refused by it, with the reason", async () => {
    await system.call("POST", "/api/v1/services/two/drain");
    await eventually(async () =>
      expect((await system.listServices()).find(({ name }) => name === "two")).toMatchObject({ drained: true }),
    );
    const { code, err } = await unacked("reload two");
    expect([code, err]).toEqual([1, "error: service two keeps its old code: this service drains.\n"]);
  });

  it.skipIf(!isHere(release))(`of a service of ${release.version} is refused, and it goes on`, async () => {
    const old = await system.startService("old", { root: builtRelease(release), env: { POOL: "old" } });
    const { status, body } = await ask("old");
    expect([status, body.code, body.detail]).toEqual([
      409,
      "service-too-old",
      expect.stringContaining("Its next process loads the folder"),
    ]);
    const { code, out, err } = await unacked("reload old");
    expect([code, out]).toEqual([1, ""]);
    expect(err).toMatch(/^error: service old: The version of the service is too old for this: It does not know this order/);
    expect(old.exit()).toBeNull();
    await system.check();
  });
});
