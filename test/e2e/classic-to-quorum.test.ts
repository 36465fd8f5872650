import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { gapsMs, percentile } from "../support/acts/gaps.ts";
import { examplesOf } from "../support/docs/doc-examples.ts";
import { eventually } from "../support/eventually.ts";
import { ROOT } from "../support/processes/processes.ts";
import { type CliAnswer, runShell } from "../support/processes/unacked-cli.ts";
import { compiled } from "../support/runs/observers-dir.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { temporaryFolder } from "../support/servers/servers.ts";
import { freshSystem, type System } from "../support/system/system.ts";
import { Tasks } from "../support/system/tasks.ts";

const PAGE = "docs/deploy.md";
const HEADING = "From classic to quorum queues, without a stop";
const OBSERVERS = 40;
const OLD = { POOL: "prices", WORK_QUEUE_TYPE: "classic" };
const QUORUM = { WORK_QUEUE_TYPE: "quorum" };

let system: System;
afterEach(() => system.close());

const typeOf = async (queue: string) =>
  (await system.management.queues()).find(({ name }) => name === queue)?.arguments["x-queue-type"] ?? "classic";

/** A folder of types from several. */
function folderWith(types: Record<string, Parameters<typeof compiled>[0]>): string {
  const folder = temporaryFolder("types");
  for (const [type, from] of Object.entries(types)) {
    const file = JSON.stringify(join(ROOT, compiled(from), `${type}.js`));
    writeFileSync(join(folder, `${type}.mjs`), `export { default } from ${file};`);
  }
  return folder;
}

/** Managers that have just started refuse changes, and say why, until each has seen that all know them. */
async function onceKnown(run: () => Promise<CliAnswer>): Promise<CliAnswer> {
  for (;;) {
    const answer = await run();
    if (!`${answer.out}${answer.err}`.includes("It is not known yet")) return answer;
  }
}

it.runIf(isTurnOf(1))(
  "the way that the docs describe takes a pool from classic to quorum queues: none lost, none doubled, each but for a moment",
  async () => {
    const [move, list, redeclare, ...more] = examplesOf(PAGE).filter(({ heading }) => heading === HEADING);
    expect(more).toEqual([]);
    system = await freshSystem();
    const first = await system.startManager({ env: { WORK_QUEUE_TYPE: "classic" } });
    const both = { ...OLD, OBSERVERS_DIR: folderWith({ stamp: "observers", work: "tasks" }) };
    for (const name of ["old-1", "old-2"]) await system.startService(name, { workers: OBSERVERS, env: both });
    const ids = (await system.createMany("watch", OBSERVERS, {}, { pool: "prices" })).map((one) => one.id);
    expect(await typeOf("unacked.work.prices")).toBe("classic");
    const tasks = new Tasks(system);
    const dueIn = (ms: number) => tasks.create({}, { pool: "prices", startAt: new Date(Date.now() + ms).toISOString() });
    const later = await dueIn(3_600_000);

    // 1: the setting, program by program. What is there stays as it is, whoever looks.
    await system.startManager({ env: QUORUM });
    expect(await first.kill("SIGTERM")).toEqual({ code: 0, signal: null });
    for (const name of ["old-1", "old-2"]) {
      await system.service(name).kill("SIGTERM");
      await system.startService(name, { workers: OBSERVERS, env: { ...both, ...QUORUM } });
    }
    await system.untilStatus(ids, "Processing");
    for (const queue of ["unacked.work.prices", "unacked.state", "unacked.error"])
      expect(await typeOf(queue)).toBe("classic");

    // 2 and 3: a pool of its own, and over with them; a service dies in the middle of it.
    const services = ["new-1", "new-2"];
    for (const name of services)
      await system.startService(name, { workers: OBSERVERS, env: { ...QUORUM, POOL: "prices-q" } });
    const shell = { env: { UNACKED_URL: system.url }, cwd: temporaryFolder("migration") };
    const moving = onceKnown(() => runShell(move?.script ?? "", shell));
    let ended: CliAnswer | undefined;
    void moving.then((answer) => (ended = answer));
    await eventually(async () => {
      const moved = (await system.listObservers("&pool=prices-q")).length;
      expect({ isUnderWay: moved > 5, moved, ended }).toMatchObject({ isUnderWay: true });
    });
    await system.service("new-1").kill("SIGKILL");
    const { code, out, err } = await moving;
    expect({ code, err }, out).toEqual({ code: 0, err: "" });
    await system.startService("new-1", { workers: OBSERVERS, env: { ...QUORUM, POOL: "prices-q" } });
    await system.untilStatus(ids, "Processing", 60_000);
    expect(await system.listObservers("&pool=prices")).toEqual([]);
    expect(await typeOf("unacked.work.prices-q")).toBe("quorum");

    // 4: tasks do not move. What is due soon runs there; what is not is cancelled.
    const soon = await dueIn(10_000); // the command line may need seconds to list it
    const left = async () => (await runShell(list?.script ?? "", shell)).out.split("\n").filter(Boolean).toSorted();
    expect(await left()).toEqual([later.id, soon.id].toSorted());
    await system.call("DELETE", `/api/v1/tasks/${later.id}`);
    await tasks.untilStatus(later.id, "Cancelled");
    await eventually(async () => expect(await left()).toEqual([]), { timeoutMs: 60_000 });
    expect(await tasks.get(soon.id)).toMatchObject({ status: "Completed" });

    // 5: nobody wants the old pool any more.
    for (const name of ["old-1", "old-2"]) await system.service(name).kill("SIGTERM");
    const names = async () => (await system.management.queues()).map(({ name }) => name);
    await eventually(async () => expect(await names()).not.toContain("unacked.work.prices"), { timeoutMs: 60_000 });
    await system.management.deleteQueue("unacked.tasks.prices");

    // 6: the queues that all share, one after the other.
    const shared = [...(redeclare?.script ?? "").matchAll(/delete_queue (\S+)/g)].map(([, queue = ""]) => queue);
    expect(shared).toContain("unacked.state");
    const there = await names();
    for (const queue of shared.filter((each) => there.includes(each))) {
      await system.management.deleteQueue(queue);
      await eventually(async () => expect(await typeOf(queue)).toBe("quorum"), { timeoutMs: 30_000, what: queue });
      await eventually(async () => expect(await names()).toContain(queue), { timeoutMs: 30_000 });
    }
    await system.createMany("after", 3, {}, { pool: "prices-q" });
    await eventually(async () => {
      const durable = (await system.management.queues()).filter((queue) => queue.durable);
      const others = durable.filter((queue) => queue.arguments["x-queue-type"] !== "quorum").map(({ name }) => name);
      expect(others.filter((name) => !name.endsWith(".default"))).toEqual([]);
    });
    await system.check({ pool: "prices-q" });
    const gaps = [...gapsMs(system.acts()).values()].flat();
    console.log(
      `classic to quorum: ${OBSERVERS} observers, ${gaps.length} moves, gap p50 ${percentile(gaps, 0.5)} ms, p99 ${percentile(gaps, 0.99)} ms`,
    );
  },
  240_000,
);
