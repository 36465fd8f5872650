import type { ObserverView, RunFigures, TimelineEntry, TimelinePage } from "@unacked/contracts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { isTurnOf } from "../support/runs/turns.ts";
import { freshSystem, type System } from "../support/system/system.ts";

const LONG_MS = 60_000;

describe("an observer's timeline", () => {
  let system: System;

  beforeAll(async () => {
    system = await freshSystem();
    await system.startManager();
  }, 240_000);
  afterAll(() => system.close());

  const page = async (ref: string, query = ""): Promise<TimelinePage> =>
    (await system.call<TimelinePage>("GET", `/api/v1/observers/${ref}/timeline${query}`)).body;
  /** `started 2 on service-2` */
  const said = ({ kind, run, service, action, reason, attempt }: TimelineEntry): string =>
    [kind, attempt, action, reason, run?.runNumber, service && `on ${service.name}`].filter((one) => one != null).join(" ");
  const told = async (ref: string): Promise<string[]> => (await page(ref)).items.map(said);
  const untilTold = (ref: string, wanted: string[]) =>
    eventually(async () => expect(await told(ref)).toEqual(wanted), { what: `the timeline of ${ref}`, timeoutMs: LONG_MS });

  it("tells who made it, where it ran, why it moved and who asked for what; page by page the same", async () => {
    const first = await system.startService("service-1");
    const [observer] = (await system.createMany("told", 1)) as [ObserverView];
    await untilTold(observer.id, ["started 1 on service-1", "created"]);
    const [, created] = (await page(observer.id)).items;
    expect(created?.by).toEqual(expect.any(String));
    await system.startService("service-2");
    await first.kill("SIGKILL");
    const moved = ["started 2 on service-2", "ended service-gone 1 on service-1", "started 1 on service-1", "created"];
    await eventually(async () => expect((await told(observer.id)).toSorted()).toEqual(moved.toSorted()), {
      what: "that it moved",
      timeoutMs: LONG_MS,
    });
    await system.call("POST", `/api/v1/observers/${observer.id}/restart`);
    await eventually(
      async () =>
        expect((await told(observer.id)).toSorted()).toEqual(
          [...moved, "asked observer.restart", "ended restarted 2 on service-2", "started 3 on service-2"].toSorted(),
        ),
      { what: "that somebody asked for a restart", timeoutMs: LONG_MS },
    );
    const whole = (await page(observer.id)).items;
    const times = whole.map(({ at }) => at);
    expect(times).toEqual(times.toSorted().toReversed());
    const paged: TimelineEntry[] = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const { items, nextCursor }: TimelinePage = await page(observer.id, `?limit=2${cursor && `&cursor=${cursor}`}`);
      paged.push(...items);
      cursor = nextCursor;
    }
    expect(paged).toEqual(whole);
    expect(await system.call("GET", `/api/v1/observers/${observer.id}/timeline?cursor=nonsense`)).toMatchObject({
      status: 400,
      body: { code: "invalid-query", errors: [{ parameter: "cursor" }] },
    });
    expect((await system.get(observer.id)).restartsLately).toBe(2);
  }, 240_000);

  it.runIf(isTurnOf(0))(
    "has each failed attempt with its text; who begins again and again is counted and warned of",
    async () => {
      await system.startService("service-3", { env: { POOL: "failing" } });
      const retry = { maxAttempts: "unlimited", delaysMs: [50] };
      const { body: failing } = await system.create("failing", { throwAfterMs: 20 }, { pool: "failing", retry });
      await eventually(
        async () => {
          expect((await system.get(failing.id)).restartsLately).toBeGreaterThan(5);
          const { warnings } = await system.stats();
          const found = warnings.find(({ code, subject }) => code === "observers-restart" && subject === "failing");
          expect(found?.message).toMatch(/^1 observer of pool failing began again .*: failing\.$/);
        },
        { what: "that it is warned of", timeoutMs: LONG_MS },
      );
      const { items } = await page(failing.id);
      const failed = items.filter(({ kind }) => kind === "attempt-failed");
      expect(failed.length).toBeGreaterThan(3);
      expect(failed.length).toBeLessThanOrEqual(20);
      expect(failed[0]).toMatchObject({
        text: "Error: thrown on request",
        service: { name: "service-3" },
        run: { runNumber: 1 },
      });
      await system.call("DELETE", `/api/v1/observers/${failing.id}`);
    },
    240_000,
  );

  it.runIf(isTurnOf(2))(
    "says whose fault it was that another's slot ended",
    async () => {
      const env = { POOL: "shared", SLOTS: "1", STUCK_MS: "1000" };
      await system.startService("service-4", { env });
      const [innocent] = (await system.createMany("innocent", 1, {}, { pool: "shared" })) as [ObserverView];
      const retry = { maxAttempts: 1 };
      await system.create("blocking", { blockLoopMs: 600_000 }, { pool: "shared", retry });
      await eventually(
        async () => {
          const ended = (await page(innocent.id)).items.find(({ kind }) => kind === "ended");
          expect(ended).toMatchObject({
            reason: "restarted",
            run: { runNumber: 1 },
            text: expect.stringContaining("blocking"),
          });
        },
        { what: "that it was interrupted, and by whom", timeoutMs: LONG_MS },
      );
      expect((await system.get(innocent.id)).restartsLately).toBeGreaterThanOrEqual(1);
    },
    240_000,
  );

  it.runIf(isTurnOf(1))(
    "is counted by the minute, by type and by service: starts, failures, interruptions and emits",
    async () => {
      const figures = async (query = "") => (await system.call<RunFigures>("GET", `/api/v1/stats/runs${query}`)).body;
      const of = async (service: string) => (await figures(`?service=${service}`)).byType[0];
      await system.startService("service-5", { env: { POOL: "counted", SLOTS: "1" } });
      const more = { pool: "counted", retry: { maxAttempts: 3, delaysMs: [50] } };
      await system.createMany("steady", 5, { emitEveryMs: 50 }, more);
      await system.create("thrice", { throwAfterMs: 20 }, more);
      await system.untilStatus(["thrice"], "Failed", LONG_MS);
      // Five first starts, and three of the one that fails, each of which fails.
      await eventually(
        async () => expect(await of("service-5")).toMatchObject({ starts: 8, failures: 3, interruptions: 0 }),
        {
          what: "that each start and failure is counted once",
          timeoutMs: LONG_MS,
        },
      );
      const before = (await of("service-5"))?.emits ?? 0;
      await eventually(async () => expect((await of("service-5"))?.emits).toBeGreaterThan(before + 100), {
        what: "that emits are counted as they go on",
        timeoutMs: LONG_MS,
      });
      await system.service("service-5").kill("SIGKILL");
      await eventually(
        async () => expect(await of("service-5")).toMatchObject({ starts: 8, failures: 3, interruptions: 5 }),
        {
          what: "that five were interrupted",
          timeoutMs: LONG_MS,
        },
      );
      const all = await figures("?minutes=5");
      const sum = (counts: { starts: number }[]) => counts.reduce((total, { starts }) => total + starts, 0);
      expect(sum(all.items)).toBe(sum(all.byType));
      expect(sum(all.items)).toBe(sum(all.byService));
      expect(all.items.every(({ at }) => Date.parse(at) % 60_000 === 0 && at >= all.since)).toBe(true);
      expect(await figures("?type=ticker")).toMatchObject({ items: [], byType: [], byService: [] });
      expect((await system.call("GET", "/api/v1/stats/runs?minutes=1441")).status).toBe(400);
    },
    240_000,
  );
});
