import { readFileSync } from "node:fs";
import type { RunList, ServiceView } from "@unacked/contracts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { type Scrape, scrape } from "../support/monitoring/scrape.ts";
import { runCli } from "../support/processes/unacked-cli.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { freshSystem, type System } from "../support/system/system.ts";

const NEIGHBOURS = 6;
const LATER = { maxAttempts: 2, delaysMs: [600_000], resetAfterMs: 600_000 };

/** A service's sign of life comes every 5 s. */
const SEEN = { timeoutMs: 20_000 };

describe.runIf(isTurnOf(1))("slots, as operators see them", () => {
  let system: System;
  let healthUrl: string;

  beforeAll(async () => {
    system = await freshSystem({ env: { SLOTS: "2", STUCK_MS: "1000", STOP_TIMEOUT_MS: "1500" } });
    await system.startManager();
    const started = await system.startService("a", { workers: 30, env: { OBSERVERS_DIR: "test/fixtures/poison" } });
    healthUrl = String((await started.waitForEvent("listening")).url);
    await system.createMany("neighbour", NEIGHBOURS);
    const runs = async () => (await service()).slots.reduce((sum, slot) => sum + slot.runs, 0);
    await eventually(async () => expect(await runs()).toBe(NEIGHBOURS), SEEN);
  }, 240_000);
  afterAll(() => system.close());

  const service = async (): Promise<ServiceView> => {
    const found = (await system.listServices()).find(({ name }) => name === "a");
    return found ?? expect.fail("the service is not listed");
  };
  const metrics = (): Promise<Scrape> => scrape(healthUrl);
  const poison = async (name: string, params: object): Promise<string> => {
    const more = { name, type: "poison", params, retry: LATER };
    return (await system.call<{ id: string }>("POST", "/api/v1/observers", more)).body.id;
  };
  const untilDeath = (pid: number) =>
    eventually(async () => {
      const { slotDeaths } = await service();
      return (
        slotDeaths.find((death) => death.pid === pid) ?? expect.fail(`${pid} is not among ${JSON.stringify(slotDeaths)}`)
      );
    }, SEEN);
  /** Why the last run of a neighbour that began again did. */
  const interruptions = async (): Promise<string[]> => {
    const names = (await system.listObservers()).map(({ name }) => name).filter((name) => name.startsWith("neighbour"));
    const lists = names.map((name) => system.call<RunList>("GET", `/api/v1/observers/${name}/runs`));
    return (await Promise.all(lists)).flatMap(({ body }) => body.items.flatMap(({ interruption }) => interruption ?? []));
  };

  it("are told with their purpose, runs, memory and lag", async () => {
    // What is told is some seconds old, and the spare one comes after the others.
    await eventually(async () => {
      const { slots, slotDeaths, slotDeathsLately, pid, memoryBytes } = await service();
      expect(slots.map(({ purpose }) => purpose).sort()).toEqual(["shared", "shared", "spare"]);
      expect([slotDeaths, slotDeathsLately]).toEqual([[], 0]);
      for (const slot of slots) {
        expect(readFileSync(`/proc/${slot.pid}/status`, "utf8")).toContain(`\nPPid:\t${pid}\n`);
        expect(slot.memoryBytes).toBeGreaterThan(10 * 1_048_576);
        expect(slot.lagMs).toBeGreaterThanOrEqual(0);
        expect(slot.lagMs).toBeLessThan(60_000);
        expect(Math.abs(Date.now() - Date.parse(slot.startedAt))).toBeLessThan(600_000);
      }
      expect(memoryBytes).toBeGreaterThan(slots.reduce((sum, slot) => sum + slot.memoryBytes, 0));
    });
  });

  it("one that was killed from outside names nobody, and its observers say what interrupted them", async () => {
    const slot = (await service()).slots.find(({ purpose }) => purpose === "shared") ?? expect.fail("no slot is shared");
    process.kill(slot.pid, "SIGKILL");
    expect(await untilDeath(slot.pid)).toMatchObject({
      end: "SIGKILL",
      reason: "unnamed",
      runs: slot.runs,
      culprit: null,
      why: `nobody can be named: ${slot.runs} suspects`,
    });
    await eventually(async () => expect((await interruptions()).length).toBe(slot.runs));
    expect(new Set(await interruptions())).toEqual(
      new Set([`its slot ended (SIGKILL): nobody can be named: ${slot.runs} suspects`]),
    );
    await eventually(async () => {
      const shown = await metrics();
      expect(shown.value("unacked_service_slot_deaths_total", { reason: "unnamed" })).toBe(1);
      expect(shown.value("unacked_service_slot_suspects")).toBe(slot.runs);
      expect(shown.value("unacked_service_slots", { purpose: "suspects" })).toBe(2);
      expect(shown.value("unacked_service_slot_memory_bytes")).toBeGreaterThan(30 * 1_048_576);
    });
    await eventually(async () => {
      const { slots } = await service();
      expect(slots.filter(({ purpose }) => purpose === "suspects").map(({ runs }) => runs)).toEqual(
        expect.arrayContaining([Math.ceil(slot.runs / 2), Math.floor(slot.runs / 2)]),
      );
    }, SEEN);
  });

  it("one that an observer blocks names it, to its neighbours too", async () => {
    await system.createMany("neighbour-too", 4); // no slot that all share is empty
    const before = (await interruptions()).length;
    const id = await poison("spin", { how: "busy-loop" });
    await system.untilStatus([id], "Retrying", 30_000);
    const death = await eventually(async () => {
      const { slotDeaths } = await service();
      return slotDeaths.find(({ culprit }) => culprit !== null) ?? expect.fail("nobody is named yet");
    }, SEEN);
    expect(death).toMatchObject({ reason: "culprit", culprit: { id, name: "spin" } });
    expect(death.why).toMatch(/^spin did it: (HandlerBlockedError|SlotEndedError): /);
    const all = await eventually(async () => {
      const told = await interruptions();
      expect(told.length).toBeGreaterThanOrEqual(before + death.runs - 1);
      return told;
    });
    expect(all.filter((text) => text.startsWith(`its slot ended (SIGKILL): ${death.why}`)).length).toBe(death.runs - 1);
    // On a busy machine it may be ended for its silence, before its watchdog has told who holds it.
    if (death.why.includes("HandlerBlockedError"))
      expect((await metrics()).value("unacked_service_slots_stuck_total")).toBeGreaterThan(0);
    expect(JSON.stringify(await service())).not.toContain("poison.ts"); // no stack leaves by this way
  });

  it("one that was ended for a stop says for whose", async () => {
    const id = await poison("deaf", { how: "ignore-abort", afterMs: 0 });
    await system.untilStatus([id], "Processing");
    await system.call("DELETE", `/api/v1/observers/${id}`);
    await system.untilStatus([id], "Deleted", 20_000);
    await eventually(async () => {
      const { slotDeaths } = await service();
      // On a busy machine a slot that only just begins may be taken for frozen meanwhile.
      const death = slotDeaths.find(({ reason }) => reason === "stop");
      expect(death).toMatchObject({ why: "ended for a stop that deaf ignored", culprit: null });
    }, SEEN);
  });

  it("are a warning when they die again and again, which names who does it", async () => {
    const { slots } = await service();
    // Not those of suspects: who is alone in one that dies is guilty.
    for (const { pid, purpose } of slots) if (["shared", "spare"].includes(purpose)) process.kill(pid, "SIGKILL");
    const warning = await eventually(async () => {
      const { warnings } = await system.stats();
      return warnings.find(({ code }) => code === "slots-die") ?? expect.fail("no warning yet");
    }, SEEN);
    expect(warning).toMatchObject({ subject: "a", remedy: expect.stringContaining("Mend or stop spin") });
    expect(warning.message).toMatch(/^Slots of a ended \d+ times in 10 minutes/);
    await eventually(async () =>
      expect((await scrape(system.url)).value("unacked_warnings", { code: "slots-die" })).toBe(1),
    );
  });

  it("are described on the command line, with why others ended", async () => {
    const { code, out } = await runCli(["describe", "service", "a"], { env: { UNACKED_URL: system.url }, cwd: "." });
    expect(code).toBe(0);
    expect(out).toMatch(/\nSlots:\n {2} *PID +FOR +RUNS +MEMORY +LAG +AGE\n/);
    expect(out).toMatch(/\n {2} *\d+ +shared +\d+ +\d+ MiB +\d+ms/);
    expect(out).toMatch(/\nSlots that ended \(\d+ unwanted in 10m\):\n/);
    expect(out).toMatch(/SIGKILL +\d+ +spin did it: /);
    const told = await runCli(["describe", "observer", "neighbour-0"], { env: { UNACKED_URL: system.url }, cwd: "." });
    expect(told.code).toBe(0);
    const all = await Promise.all(
      Array.from({ length: NEIGHBOURS }, (_, i) =>
        runCli(["get", "runs", `neighbour-${i}`], { env: { UNACKED_URL: system.url }, cwd: "." }),
      ),
    );
    expect(all.map((one) => one.out).join("")).toMatch(
      /restarted: its slot ended \(SIGKILL\): (spin did it|nobody can be named): /,
    );
  });

  it("have ended without harm to what must hold", async () => {
    await system.remove("spin");
    await system.check();
  });
});
