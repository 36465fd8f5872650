import type { ObserverView } from "@unacked/contracts";
import { afterAll, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { inTurn } from "../support/runs/turns.ts";
import { freshSystem, type System } from "../support/system/system.ts";

const KILLS = 10;

// A quorum queue counts deliveries that were not acked, and has a limit to them; a classic one has not.
describe.concurrent("an observer whose holder is killed -9 again and again (fault 8)", () => {
  const systems: System[] = [];
  afterAll(async () => void (await Promise.all(systems.map((system) => system.close()))));

  it.each(inTurn(["classic", "quorum"]))(
    `is still there after ${KILLS} times, on a %s queue`,
    async (queueType) => {
      const env = { WORK_QUEUE_TYPE: queueType };
      const system = await freshSystem();
      systems.push(system);
      await system.startManager({ env });
      await system.startService("service-1", { env });
      const [observer] = (await system.createMany("observer", 1)) as [ObserverView];
      await system.startService("service-2", { env });
      const queue = (await system.management.queues()).find((one) => one.name === "unacked.work.default");
      expect(queue?.arguments["x-queue-type"] ?? "classic").toBe(queueType);

      const backMs: number[] = [];
      let holder = await untilHeldSince(system, observer, 0n);
      for (let kill = 0; kill < KILLS; kill += 1) {
        const name = nameOf(system, holder);
        const sentNs = process.hrtime.bigint();
        await system.service(name).kill("SIGKILL");
        const killedNs = process.hrtime.bigint();
        // As Kubernetes would; the other one does not wait for it.
        await system.startService(name, { env, untilKnown: false });
        holder = await untilHeldSince(system, observer, killedNs, holder);
        backMs.push(Number(process.hrtime.bigint() - sentNs) / 1e6);
      }
      console.log(
        `killed ${KILLS} times, ${queueType}: back after ${Math.min(...backMs).toFixed(0)} to ${Math.max(...backMs).toFixed(0)} ms`,
      );
      await system.untilStatus([observer.id], "Processing");
      expect((await system.get(observer.id)).revision, "one message all along").toBe(1);
      await system.check({ maxOverlapMs: 0 });
      system.reportOverlap(`killed again and again, ${queueType}`, [observer]);
    },
    240_000,
  );
});

/** The process in which it acted after that moment; `not`: one that was killed, whose slot may act for a moment more. */
function untilHeldSince(system: System, observer: ObserverView, sinceNs: bigint, not = 0): Promise<number> {
  return eventually(
    () => {
      const act = system
        .acts()
        .findLast((one) => one.observerId === observer.id && one.monotonicNs > sinceNs && one.pid !== not);
      if (act === undefined) throw new Error("it has not acted since");
      return act.pid;
    },
    { timeoutMs: 15_000, what: "the observer at work again" },
  );
}

function nameOf(system: System, pid: number): string {
  const found = [...system.services].find(([, service]) => service.pid === pid);
  if (!found) throw new Error(`no service has the pid ${pid}`);
  return found[0];
}
