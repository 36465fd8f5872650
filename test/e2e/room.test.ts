import type { ServiceView } from "@unacked/contracts";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { scrape } from "../support/monitoring/scrape.ts";
import { type MemoryGroup, memoryGroup } from "../support/processes/memory-group.ts";
import { runCli } from "../support/processes/unacked-cli.ts";
import { compiled } from "../support/runs/observers-dir.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { freshSystem, type System } from "../support/system/system.ts";

const MIB = 2 ** 20;
const LIMIT = 512 * MIB;
const EACH_MIB = 5;
const OBSERVERS = 60;

const HUNGRY = { OBSERVERS_DIR: compiled("hungry") };

const probe = memoryGroup(LIMIT);
afterAll(() => probe?.close());

/** Signs of life come every 5 s. */
const SEEN = { timeoutMs: 30_000 };

describe.runIf(probe !== undefined && isTurnOf(0))("WORKER_COUNT=auto in a control group of 512 MiB (root)", () => {
  let system: System;
  let group: MemoryGroup;
  afterEach(async () => {
    await system.close();
    await group.close();
  });

  const service = async (name: string): Promise<ServiceView> =>
    (await system.listServices()).find((one) => one.name === name) ?? expect.fail(`${name} is not listed`);
  const create = async (count: number): Promise<string[]> => {
    const observers = Array.from({ length: count }, (_, i) => ({
      name: `hungry-${i}`,
      type: "hungry",
      params: { mib: EACH_MIB },
    }));
    const answer = await system.call<{ results: { observer: { id: string } }[] }>("POST", "/api/v1/observers/batch", {
      observers,
    });
    return answer.body.results.map(({ observer }) => observer.id);
  };

  it("takes what fits, says so, leaves the rest to another, and is never ended by the kernel", async () => {
    group = memoryGroup(LIMIT) ?? expect.fail("there was one a moment ago");
    system = await freshSystem();
    await system.startManager();
    const small = await system.startService("small", { env: { ...HUNGRY, ...group.env, WORKER_COUNT: "auto" } });
    const healthUrl = String((await small.waitForEvent("listening")).url);
    await eventually(async () => expect((await service("small")).free).toBeGreaterThan(5), SEEN);

    const ids = await create(OBSERVERS);
    const full = await eventually(async () => {
      const now = await service("small");
      expect(now).toMatchObject({ free: 0, notConsuming: expect.stringMatching(/of \d+ MiB in use/) });
      expect(now.running).toBe(now.reportedRunning);
      return now;
    }, SEEN);
    expect(full.running).toBeGreaterThan(15);
    expect(full.running).toBeLessThan(OBSERVERS);
    expect(full.workerCount).toBe(full.running);
    expect(group.usedBytes()).toBeLessThan(LIMIT);
    console.log(
      `${full.running} observers of ${EACH_MIB} MiB in 512 MiB: ${Math.round(group.usedBytes() / MIB)} MiB in use; ${full.notConsuming}`,
    );
    const told = await scrape(healthUrl);
    expect([told.value("unacked_service_consuming"), told.value("unacked_service_room")]).toEqual([0, 0]);
    expect(told.value("unacked_service_ready")).toBe(1);
    const shown = await runCli(["describe", "service", "small"], { env: { UNACKED_URL: system.url }, cwd: "/" });
    expect(shown.out).toContain(`${full.running} running of ${full.running}, room for 0 more`);
    expect(shown.out).toContain("Takes no work:");

    // Its proofs of life go on for several heartbeats: nothing is lost, and nothing more is taken.
    await system.startService("other", { workers: 100, env: HUNGRY });
    await system.untilStatus(ids, "Processing", 30_000);
    const [taken, left] = [await service("small"), await service("other")];
    expect(taken.running).toBeGreaterThanOrEqual(full.running);
    expect([taken.running + left.running, left.notConsuming]).toEqual([OBSERVERS, null]);

    const its = (await system.listObservers("&service=small")).map(({ id }) => id);
    await Promise.all(its.map((id) => system.remove(id)));
    await eventually(async () => {
      const empty = await service("small");
      expect(empty).toMatchObject({ running: 0, notConsuming: null, state: "Alive" });
      expect(empty.free).toBeGreaterThan(5);
    }, SEEN);
    expect([group.oomKills(), (await service("small")).slotDeathsLately, small.exit()]).toEqual([0, 0, null]);
  });
});
