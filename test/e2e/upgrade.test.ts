import type { BatchResults, Stats } from "@unacked/contracts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { builtRelease, isHere, RELEASES, type Release } from "../support/messages/releases.ts";
import type { RunningProcess } from "../support/processes/processes.ts";
import { change, marked, marksOf, runsOf, untilAsWanted, untilItMayChange } from "../support/system/changes.ts";
import { freshSystem, type System } from "../support/system/system.ts";

const release = RELEASES.at(-1) as Release;
const isSkipped = !isHere(release);
if (isSkipped)
  console.warn(
    `SKIPPED: this clone does not hold the commit of ${release.version} (${release.commit}): nothing runs beside it`,
  );

/** A pool of its own, in which nobody takes them until the end: they wait in its work queue, 9,988 messages of the old version. */
const CROWD_POOL = "crowd";
const CROWD = 9_988;
const BATCH = 1_000;
/** A proof of life is answered behind 9,988 deliveries: with two cores and other tests beside, that takes longer than the 6 s that 4 would leave. */
const CALM_HEARTBEAT_S = "20";

/** As docs/upgrade.md has it: managers first, then the services one by one; and both versions on one broker in between. */
describe.skipIf(isSkipped)(`an upgrade from ${release.version} with 10,000 observers`, () => {
  let root: string;
  let system: System;
  let ids: string[];

  const observers = () => system.observers(ids);
  const untilAllRun = () =>
    eventually(
      async () => expect(new Set((await observers()).map(({ status }) => status))).toEqual(new Set(["Processing"])),
      {
        timeoutMs: 30_000,
        what: "all observers of the default pool are Processing",
      },
    );
  const untilSomeRunOn = (name: string) =>
    eventually(async () => expect((await observers()).map(({ service }) => service?.name)).toContain(name), {
      timeoutMs: 20_000,
    });
  const check = () => system.check({ pool: "default" });
  const counts = async () => (await system.call<Stats>("GET", "/api/v1/stats")).body.observers.byStatus;

  async function createCrowd(): Promise<void> {
    for (let first = 0; first < CROWD; first += BATCH) {
      const observers = Array.from({ length: Math.min(BATCH, CROWD - first) }, (_, i) => ({
        name: `crowd-${first + i}`,
        type: "stamp",
        params: { everyMs: 1_000_000 },
        pool: CROWD_POOL,
        whenFull: "queue",
      }));
      const { body } = await system.call<BatchResults>("POST", "/api/v1/observers/batch", { observers });
      expect(body.results.filter((result) => !("observer" in result))).toEqual([]);
    }
    await eventually(async () => expect((await system.management.queue(`unacked.work.${CROWD_POOL}`)).ready).toBe(CROWD), {
      timeoutMs: 30_000,
    });
  }

  beforeAll(async () => {
    root = builtRelease(release);
    system = await freshSystem();
    await system.startManager({ root });
    await system.startService("service-1", { root });
    await system.startService("service-2", { root });
    ids = (await system.createMany("observer", 12, {}, { whenFull: "queue" })).map(({ id }) => id);
    await createCrowd();
  }, 600_000);
  afterAll(() => system?.close());

  it("of the manager, beside the old one and then in its place, moves no observer", async () => {
    const [before, countsBefore] = [await observers(), await counts()];
    expect(countsBefore).toMatchObject({ Created: CROWD, Processing: 12 });
    const older = system.url;
    const migratedInMs = openedBooksInMs(await system.startManager());
    console.log(`the schema of 10,000 observers was brought up to date in ${migratedInMs} ms`);
    expect(migratedInMs).toBeLessThan(30_000);
    const newer = system.url;
    system.url = older;
    const [late] = await system.createMany("late", 1);
    system.url = newer;
    expect(await system.managers[0]?.kill("SIGTERM")).toEqual({ code: 0, signal: null });
    await system.untilReady();
    const { id = "" } = late ?? {};
    expect(await system.get(id)).toMatchObject({ specVersion: 1, observedSpecVersion: 1, pending: null }); // the old one writes no version
    await system.remove(id);
    await eventually(async () =>
      expect((await system.listServices()).map(({ state }) => state)).toEqual(["Alive", "Alive"]),
    );
    expect((await observers()).map(({ epoch, service }) => [epoch, service])).toEqual(
      before.map(({ epoch, service }) => [epoch, service]),
    );
    expect(await counts()).toMatchObject({ ...countsBefore, Deleted: 1 }); // and statuses that the old one did not know
    await check();
  });

  it("leaves old services that the new manager creates, restarts, fails and stops observers on", async () => {
    const [created] = await system.createMany("created", 1);
    const { body: failing } = await system.create(
      "failing",
      { throwAfterMs: 10 },
      { retry: { maxAttempts: 2, delaysMs: [10] } },
    );
    await system.untilStatus([failing.id], "Failed");
    const [restarted] = await observers();
    expect((await system.call("POST", `/api/v1/observers/${restarted?.id}/restart`)).status).toBe(202);
    await eventually(async () =>
      expect((await system.get(restarted?.id ?? "")).epoch).toBeGreaterThan(restarted?.epoch ?? 0),
    );
    await system.remove(created?.id ?? "");
    await untilAllRun();
    await check();
  });

  it("leaves old services that observers are changed on, once the old manager is gone; what they do not say the books know", async () => {
    await untilItMayChange(system);
    const { id = "" } = (await observers())[1] ?? {};
    expect((await change(system, id, { params: marked(system, "changed") })).status).toBe(202);
    const [now] = await untilAsWanted(system, [id]);
    expect(now).toMatchObject({
      specVersion: 2,
      observedSpecVersion: 2,
      service: { name: expect.stringMatching(/^service-/) },
    });
    expect((await runsOf(system, id)).map(({ specVersion }) => specVersion)).toContain(null);
    await eventually(() => expect(marksOf(system, id).at(-1)).toBe("changed"));
    await check();
  });

  it("lets old and new services take over from each other", async () => {
    await system.startService("service-3", { workers: 20 });
    await system.service("service-1").kill("SIGKILL");
    await untilSomeRunOn("service-3");
    await untilAllRun();
    await system.startService("service-1", { root, workers: 20 });
    await system.service("service-3").kill("SIGKILL");
    await untilSomeRunOn("service-1");
    await untilAllRun();
    await check();
  });

  it("of the services, one by one, loses and doubles none", async () => {
    for (const name of ["service-1", "service-2"]) {
      expect(await system.service(name).kill("SIGTERM")).toEqual({ code: 0, signal: null });
      await system.startService(name, { workers: 20 });
      await untilAllRun();
    }
    await check();
  });

  it("leaves no start of the old version behind: a new service runs each that waited, once", async () => {
    await system.startService("crowd", { workers: CROWD, env: { POOL: CROWD_POOL, HEARTBEAT_S: CALM_HEARTBEAT_S } });
    await eventually(async () => expect((await counts()).Processing).toBe(12 + CROWD), { timeoutMs: 60_000 });
    const crowd = await system.listObservers(`&pool=${CROWD_POOL}`);
    const again = crowd.filter(({ epoch, attempts }) => epoch !== 1 || attempts !== 1);
    expect(await whyAgain(system, again), `${again.length} of ${CROWD} did not run once`).toEqual([]);
    // Where they had waited for over 20 s, a proof's marker is behind them: the full service fetches it (docs/decisions/0008).
    await eventually(
      async () => {
        const queue = await system.management.queue(`unacked.work.${CROWD_POOL}`);
        expect([queue.ready, queue.unacked]).toEqual([0, CROWD]);
      },
      { timeoutMs: 30_000, what: "the work queue has the crowd's messages only" },
    );
    expect((await system.listServices()).find(({ name }) => name === "crowd")).toMatchObject({ running: CROWD });
  });
});

/** The runs of the first of them, and how often their service said what: thousands of rows in a diff would tell nothing. */
async function whyAgain(system: System, again: readonly { id: string }[]): Promise<unknown[]> {
  if (again[0] === undefined) return [];
  const said = new Map<string, number>();
  for (const line of system.service("crowd").lines) {
    const event = /"event":"([^"]*)"/.exec(line)?.[1] ?? "no event";
    said.set(event, (said.get(event) ?? 0) + 1);
  }
  return [await runsOf(system, again[0].id), Object.fromEntries(said)];
}

/** From the manager's first word to the schema that is up to date. */
function openedBooksInMs({ lines }: RunningProcess): number {
  const timeOf = (event: string) => {
    const line = lines.find((each) => each.includes(`"event":"${event}"`)) ?? "{}";
    return Number(new Date((JSON.parse(line) as { time: string | number }).time));
  };
  return timeOf("books-open") - timeOf("starting");
}
