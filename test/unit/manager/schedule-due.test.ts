import { PutSchedule } from "@unacked/contracts";
import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { definitionOf } from "../../../services/observer-manager/src/domain/schedules/definition.ts";
import { dueTimes } from "../../../services/observer-manager/src/domain/schedules/due.ts";
import { decideOverlap, MAX_QUEUED } from "../../../services/observer-manager/src/domain/schedules/overlap.ts";
import { jitterOf } from "../../../services/observer-manager/src/domain/schedules/times.ts";
import { decideDue } from "../../../services/observer-manager/src/operations/schedules/firing.ts";
import type { TaskScheduleState } from "../../../services/observer-manager/src/operations/schedules/schedule-store.ts";

const S = 1_000;
const MINUTE = 60 * S;
const BASE = Date.parse("2026-11-21T00:00:00Z");

interface More {
  catchUp: "none" | "latest" | "all";
  everyMs?: number;
  nextMs?: number;
  nowMs: number;
  windowMs?: number;
  max?: number;
  jitterMs?: number;
  endAt?: string | null;
  keep?: number;
}
const due = ({
  catchUp,
  everyMs = MINUTE,
  nextMs = BASE,
  nowMs,
  windowMs = 86_400 * S,
  max = 100,
  jitterMs = 0,
  endAt = null,
  keep = 100,
}: More) =>
  dueTimes(
    {
      timing: { rhythm: { everyMs }, startAt: new Date(BASE).toISOString(), endAt, jitterMs },
      catchUp,
      catchUpWindowMs: windowMs,
      catchUpMax: max,
    },
    { id: "a", nextMs, lastMs: null, nowMs, keep },
  );
const minutes = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, i) => BASE + (from + i) * MINUTE);

describe("catching up", () => {
  // Times of each minute from 0 on; now is 10:30, so 0 to 9 are late, and 10 is on time.
  const NOW = BASE + 10 * MINUTE + 30 * S;
  it.each([
    ["none", {}, [], [10], { "catch-up-none": 10 }],
    ["latest", {}, [], [10], { "catch-up-latest": 10 }],
    ["all", {}, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9], [10], {}],
    ["all", { max: 3 }, [7, 8, 9], [10], { "catch-up-max": 7 }],
    ["all", { windowMs: 5 * MINUTE }, [6, 7, 8, 9], [10], { "catch-up-window": 6 }],
    ["all", { windowMs: 5 * MINUTE, max: 2 }, [8, 9], [10], { "catch-up-window": 6, "catch-up-max": 2 }],
    // With an end before the last ones: nothing is on time.
    ["none", { endAt: new Date(BASE + 9 * MINUTE).toISOString() }, [], [], { "catch-up-none": 9 }],
    ["latest", { endAt: new Date(BASE + 9 * MINUTE).toISOString() }, [8], [], { "catch-up-latest": 8 }],
    ["latest", { endAt: new Date(BASE + 9 * MINUTE).toISOString(), windowMs: 2 * MINUTE }, [], [], { "catch-up-window": 9 }],
    ["all", { endAt: new Date(BASE + 9 * MINUTE).toISOString() }, [0, 1, 2, 3, 4, 5, 6, 7, 8], [], {}],
  ] as const)("%s %j", (catchUp, more, caught, onTime, reasons) => {
    const told = due({ catchUp, nowMs: NOW, ...more });
    const of = (cause: string): number[] =>
      told.due.filter((one) => one.cause === cause).map(({ atMs }) => (atMs - BASE) / MINUTE);
    expect([of("catch-up"), of("time")]).toEqual([caught, onTime]);
    const counted: Record<string, number> = {};
    for (const { reason } of told.missed) counted[reason] = (counted[reason] ?? 0) + 1;
    expect(counted).toEqual(reasons);
    expect(told.nextMs).toBe("endAt" in more ? undefined : BASE + 11 * MINUTE);
  });

  test("on time is what is decided within a minute of it", () => {
    const told = due({ catchUp: "none", everyMs: 7 * S, nowMs: BASE + 63 * S });
    expect(told.due.map(({ lateMs }) => lateMs / S)).toEqual([56, 49, 42, 35, 28, 21, 14, 7, 0]);
    expect(told.missed.map(({ lateMs }) => lateMs / S)).toEqual([63]);
  });

  test("nothing is due before its time, and not before its jitter", () => {
    const jitterMs = 50 * S;
    const jitter = jitterOf("a", BASE, jitterMs);
    expect(jitter).toBeGreaterThan(0);
    expect(due({ catchUp: "none", jitterMs, nowMs: BASE + jitter - 1 })).toMatchObject({ due: [], nextMs: BASE });
    expect(due({ catchUp: "none", jitterMs, nowMs: BASE + jitter })).toMatchObject({
      due: [{ atMs: BASE, lateMs: 0, cause: "time" }],
      nextMs: BASE + MINUTE,
    });
  });

  const someTiming = fc.record({
    everyMs: fc.integer({ min: S, max: 120 * S }),
    jitterMs: fc.integer({ min: 0, max: 3_600 * S }),
  });
  const looks = fc.array(fc.integer({ min: 1, max: 59 * S }), { minLength: 1, maxLength: 80 });

  test("while somebody looks within each minute each time starts once, in order, at most its jitter late, and none is missed", () => {
    fc.assert(
      fc.property(someTiming, looks, fc.constantFrom("none", "latest", "all"), ({ everyMs, jitterMs }, pauses, catchUp) => {
        let [nextMs, nowMs, count] = [BASE, BASE, 0];
        for (const pauseMs of pauses) {
          nowMs += pauseMs;
          // Nothing but `nextMs` is handed on: each look may be that of a manager which knows nothing else.
          const told = due({ catchUp, everyMs, jitterMs, nextMs, nowMs });
          expect([told.missed, told.earlierMissed]).toEqual([[], 0]);
          for (const { atMs, lateMs, cause } of told.due) {
            expect([atMs, cause]).toEqual([BASE + count * everyMs, "time"]);
            expect(nowMs).toBeGreaterThanOrEqual(atMs + jitterOf("a", atMs, jitterMs));
            expect(nowMs).toBeLessThanOrEqual(atMs + jitterMs + pauseMs);
            expect(lateMs).toBeLessThanOrEqual(pauseMs);
            count += 1;
          }
          nextMs = told.nextMs ?? expect.fail("it is over");
          expect(nextMs).toBe(BASE + count * everyMs);
        }
      }),
    );
  });

  test("after a stop the same are caught up, however many are passed over unseen", () => {
    const stopS = fc.integer({ min: 400, max: 1_500 });
    const jitterS = fc.integer({ min: 0, max: 300 });
    const most = fc.integer({ min: 1, max: 100 });
    fc.assert(
      fc.property(stopS, jitterS, most, fc.constantFrom("latest", "all"), (stop, jitter, max, catchUp) => {
        const nowMs = BASE + stop * S;
        const jitterMs = jitter * S;
        const told = due({ catchUp, everyMs: S, jitterMs, nowMs, max });
        const late: number[] = [];
        const onTime: number[] = [];
        for (let [atMs, dueMs] = [BASE, 0]; ; atMs += S) {
          dueMs = Math.max(dueMs, atMs + jitterOf("a", atMs, jitterMs));
          if (dueMs > nowMs) break;
          (nowMs - dueMs > MINUTE ? late : onTime).push(atMs);
        }
        const caught = catchUp === "all" ? late.slice(-max) : onTime.length > 0 ? [] : late.slice(-1);
        expect(told.due.map(({ atMs }) => atMs)).toEqual([...caught, ...onTime]);
        expect(told.missed.length + told.earlierMissed).toBeLessThanOrEqual(late.length - caught.length);
        expect(told.nextMs).toBe(BASE + (late.length + onTime.length) * S);
      }),
      { examples: [[570, 0, 100, "all"]] },
    );
  });

  test("of what is missed the newest are kept, and the others counted", () => {
    const told = due({ catchUp: "none", nowMs: BASE + 200 * MINUTE + 30 * S, keep: 10 });
    expect(told.missed.map(({ atMs }) => atMs)).toEqual(minutes(190, 199));
    expect([told.earlierMissed, told.due.length, told.nextMs]).toEqual([190, 1, BASE + 201 * MINUTE]);
  });

  test.each([
    ["all", 100, minutes(800, 899)],
    ["latest", 1, minutes(998, 998)],
  ] as const)(
    "of more than are counted one by one, what is missed has its rows beside what is caught up: %s, %i kept",
    (catchUp, keep, missed) => {
      const endAt = new Date(BASE + 1_000 * MINUTE).toISOString();
      const told = due({ catchUp, nowMs: BASE + 1_001 * MINUTE + 30 * S, endAt, keep });
      expect(told.missed.map(({ atMs }) => atMs)).toEqual(missed);
      expect(told.earlierMissed).toBeGreaterThanOrEqual(500);
    },
  );

  test.each([1, 40])("a stop of %s days of a schedule of each second is decided without a look at each", (days) => {
    const nowMs = BASE + days * 86_400 * S;
    const told = due({ catchUp: "all", everyMs: S, nowMs, max: 7, keep: 5 });
    const caught = told.due.filter(({ cause }) => cause === "catch-up").map(({ atMs }) => atMs);
    expect(caught).toEqual(Array.from({ length: 7 }, (_, i) => nowMs - (67 - i) * S));
    expect(told.due.length).toBe(7 + 61);
    expect(told.earlierMissed).toBeGreaterThanOrEqual(500);
    expect(told.nextMs).toBe(nowMs + S);
  });
});

describe("other rules of its zone than when the next time was written", () => {
  // Kazakhstan is 5 hours ahead of UTC since March 2024, and was 6.
  const timing = { rhythm: { cron: "0 8 * * *", timeZone: "Asia/Almaty" }, startAt: null, endAt: null, jitterMs: 0 };
  const at = (text: string): number => Date.parse(`2026-11-${text}:00Z`);
  const look = (nextMs: number, nowMs: number, lastMs: number | null = null, catchUp: "none" | "latest" = "latest") => {
    const policy = { catchUp, catchUpWindowMs: 86_400 * S, catchUpMax: 100 };
    const told = dueTimes({ timing, ...policy }, { id: "a", nextMs, lastMs, nowMs, keep: 100 });
    const short = ({ atMs }: { atMs: number }): string => new Date(atMs).toISOString().slice(8, 16);
    return { ...told, due: told.due.map(short), missed: told.missed.map(short) };
  };

  test("a time that comes later now is waited for, and that day has one", () => {
    const early = look(at("03T02:00"), at("03T02:00"));
    expect(early).toMatchObject({ due: [], missed: [], nextMs: at("03T03:00") });
    expect(look(at("03T03:00"), at("03T03:00"))).toMatchObject({ due: ["03T03:00"], nextMs: at("04T03:00") });
  });

  test("a time that came earlier is late by that, and that day has one, too", () => {
    const yesterday = at("02T04:00");
    expect(look(at("03T04:00"), at("03T04:00"), yesterday)).toMatchObject({ due: ["03T03:00"], nextMs: at("04T03:00") });
    expect(look(at("03T04:00"), at("03T04:00"), yesterday, "none")).toMatchObject({ due: [], missed: ["03T03:00"] });
  });

  test("what something was decided about is not decided again", () => {
    const told = look(at("03T04:00"), at("03T04:00"), at("03T03:00"));
    expect(told).toMatchObject({ due: [], missed: [], nextMs: at("04T03:00") });
  });

  test("after a stop of days it is the same", () => {
    const told = look(at("01T02:00"), at("03T03:00"), null, "none");
    expect(told).toMatchObject({ due: ["03T03:00"], missed: ["01T03:00", "02T03:00"] });
  });
});

describe("overlaps", () => {
  type Policy = Parameters<typeof decideOverlap>[0];
  const words = (policy: Policy, running: number, queued: number, count: number, first?: number): string =>
    decideOverlap(policy, { running, queued }, count, first)
      .map((one) => (one.kind === "skip" ? one.reason : one.kind))
      .join(" ");
  it.each([
    ["allow", 0, 0, 3, "start start start"],
    ["allow", 5, 0, 2, "start start"],
    ["skip", 0, 0, 1, "start"],
    ["skip", 1, 0, 1, "overlap"],
    ["skip", 0, 0, 3, "start overlap overlap"],
    ["queue", 0, 0, 3, "start queue queue"],
    ["queue", 1, 0, 2, "queue queue"],
    ["queue", 0, 1, 2, "queue queue"],
    ["queue", 1, MAX_QUEUED - 1, 2, "queue queue-full"],
    ["cancel-running", 0, 0, 1, "start"],
    ["cancel-running", 1, 0, 1, "start-instead"],
    ["cancel-running", 1, 0, 3, "superseded superseded start-instead"],
    ["cancel-running", 0, 0, 2, "superseded start"],
    ["skip", 0, 0, 0, ""],
  ] as const)("%s, with %i running, %i queued and %i due: %s", (policy, running, queued, count, told) => {
    expect(words(policy, running, queued, count)).toBe(told);
  });

  it("where one alone may start, it is the one that is on time, and not one of those that are caught up", () => {
    expect(words("skip", 0, 0, 3, 2)).toBe("overlap overlap start");
    expect(words("skip", 1, 0, 3, 2)).toBe("overlap overlap overlap");
    expect(words("queue", 0, 0, 3, 2)).toBe("start queue queue"); // each has its turn
  });

  it.each([
    [30, ["30 time"]],
    [75, ["25 catch-up"]], // an end at 30: nothing is on time
  ] as const)("with `skip` all of what was missed comes down to one: %i minutes later", (minute, expected) => {
    const endAt = new Date(BASE + 30.5 * MINUTE).toISOString();
    const definition = definitionOf(
      PutSchedule.parse({ cron: "* * * * *", catchUp: "all", catchUpMax: 6, endAt, task: { type: "t" } }),
    );
    const underWay = { regular: { running: [], queued: 0 } };
    const state = { id: "a", definition, version: 1, nextMs: BASE + MINUTE, lastMs: null, underWay };
    const { occurrences } = decideDue(state as unknown as TaskScheduleState, BASE + minute * MINUTE + 5 * S);
    const started = occurrences.filter(({ status }) => status === "started");
    expect(started.map(({ atMs, cause }) => `${(atMs - BASE) / MINUTE} ${cause}`)).toEqual(expected);
    expect(occurrences.filter(({ reason }) => reason === "overlap")).toHaveLength(minute === 30 ? 6 : 5);
  });
});

test("what cancels the one before has no key, which that one has until it has ended", () => {
  const body = { everyMs: 60_000, overlap: "cancel-running", task: { type: "t" } };
  expect(PutSchedule.safeParse(body).success).toBe(true);
  const { error } = PutSchedule.safeParse({ ...body, task: { type: "t", key: "one" } });
  expect(error?.issues.map(({ path }) => path)).toEqual([["overlap"]]);
  expect(PutSchedule.safeParse({ ...body, overlap: "queue", task: { type: "t", key: "one" } }).success).toBe(true);
});
