import { PutSchedule } from "@unacked/contracts";
import { describe, expect, it, test } from "vitest";
import { cronFlaw } from "../../../services/observer-manager/src/domain/schedules/cron-flaw.ts";
import {
  definitionOf,
  type TaskDefinition,
  type Timing,
} from "../../../services/observer-manager/src/domain/schedules/definition.ts";
import { dueTimes } from "../../../services/observer-manager/src/domain/schedules/due.ts";
import { type Stretch, timesAhead } from "../../../services/observer-manager/src/domain/schedules/preview.ts";
import {
  jitterOf,
  lastTimesBetween,
  nextTime,
  timesBetween,
} from "../../../services/observer-manager/src/domain/schedules/times.ts";
import { localText } from "../../../services/observer-manager/src/domain/schedules/zone.ts";

const timing = (rhythm: Timing["rhythm"], more: Partial<Timing> = {}): Timing => ({
  rhythm,
  startAt: null,
  endAt: null,
  jitterMs: 0,
  ...more,
});
const cron = (expression: string, timeZone: string, more: Partial<Timing> = {}) =>
  timing({ cron: expression, timeZone }, more);

/** The next ones, by the clock of the zone. */
function next(of: Timing, from: string, count: number, timeZone: string): string[] {
  const times: string[] = [];
  for (let at: number | undefined = Date.parse(from); times.length < count; ) {
    at = nextTime(of, at);
    if (at === undefined) break;
    times.push(localText(at, timeZone));
  }
  return times;
}

/*
 * Rewritten from the tests of two well-kept libraries (both MIT): croner (Hexagon/croner, test/timezone.test.ts, test/ocps-1.4.test.ts,
 * test/pattern.test.ts) and cron-parser (harrisiirak/cron-parser, tests/CronExpressionParser.test.ts, tests/CronExpression.test.ts).
 */
describe("published cases", () => {
  type Case = [source: string, expression: string, zone: string, from: string, expected: string[]];
  const agreed: Case[] = [
    [
      "cron-parser",
      "0 * * * *",
      "Europe/Athens",
      "2016-03-27T02:00:01+02:00",
      ["2016-03-27T04:00:00+03:00", "2016-03-27T05:00:00+03:00"],
    ],
    [
      "cron-parser",
      "30 2 * * *",
      "Europe/Athens",
      "2016-03-27T02:00:01+02:00",
      ["2016-03-27T02:30:00+02:00", "2016-03-28T02:30:00+03:00"],
    ],
    [
      "cron-parser",
      "0 3 * * *",
      "Europe/Athens",
      "2016-03-27T02:00:01+02:00",
      ["2016-03-27T04:00:00+03:00", "2016-03-28T03:00:00+03:00"],
    ],
    [
      "cron-parser",
      "0 * 27 * *",
      "Europe/Athens",
      "2016-03-27T00:00:01+02:00",
      ["2016-03-27T01:00:00+02:00", "2016-03-27T02:00:00+02:00", "2016-03-27T04:00:00+03:00", "2016-03-27T05:00:00+03:00"],
    ],
    [
      "cron-parser",
      "0 * * * *",
      "Europe/Athens",
      "2016-10-30T02:00:01+03:00",
      ["2016-10-30T03:00:00+03:00", "2016-10-30T03:00:00+02:00", "2016-10-30T04:00:00+02:00"],
    ],
    [
      "cron-parser",
      "0 3 * * *",
      "Europe/Athens",
      "2016-10-30T02:00:01+03:00",
      ["2016-10-30T03:00:00+03:00", "2016-10-31T03:00:00+02:00"],
    ],
    [
      "cron-parser",
      "0 * 30 * *",
      "Europe/Athens",
      "2016-10-30T00:00:01+03:00",
      [
        "2016-10-30T01:00:00+03:00",
        "2016-10-30T02:00:00+03:00",
        "2016-10-30T03:00:00+03:00",
        "2016-10-30T03:00:00+02:00",
        "2016-10-30T04:00:00+02:00",
      ],
    ],
    ["cron-parser", "0 9 1 1 *", "America/Sao_Paulo", "2018-10-30T00:59:00Z", ["2019-01-01T09:00:00-02:00"]],
    ["cron-parser", "0 12 * * 3", "America/New_York", "2018-10-28T04:00:00Z", ["2018-10-31T12:00:00-04:00"]],
    ["cron-parser", "0 3 * * 7", "Europe/Rome", "2025-03-28T23:59:59Z", ["2025-03-30T03:00:00+02:00"]],
    ["cron-parser", "0 4 * * 7", "Europe/Rome", "2025-03-28T23:59:59Z", ["2025-03-30T04:00:00+02:00"]],
    [
      "cron-parser",
      "0 * * * 7",
      "Europe/Rome",
      "2025-03-29T00:00:00Z",
      ["2025-03-30T00:00:00+01:00", "2025-03-30T01:00:00+01:00", "2025-03-30T03:00:00+02:00", "2025-03-30T04:00:00+02:00"],
    ],
    ["cron-parser", "0 0 29 2 *", "UTC", "2021-01-01T00:00:00Z", ["2024-02-29T00:00:00+00:00", "2028-02-29T00:00:00+00:00"]],
    [
      "croner",
      "0 30 1 * * *",
      "America/New_York",
      "2025-11-02T04:00:00Z",
      ["2025-11-02T01:30:00-04:00", "2025-11-03T01:30:00-05:00"],
    ],
    [
      "croner",
      "0 30 1 * * *",
      "Europe/London",
      "2025-10-26T00:00:00Z",
      ["2025-10-26T01:30:00+01:00", "2025-10-27T01:30:00+00:00"],
    ],
    ["croner", "0 0 * * * *", "UTC", "2025-10-05T02:00:00Z", ["2025-10-05T03:00:00+00:00", "2025-10-05T04:00:00+00:00"]],
    [
      "croner",
      "0 30 1 5 11 *",
      "America/New_York",
      "2023-11-05T00:00:00-04:00",
      ["2023-11-05T01:30:00-04:00", "2024-11-05T01:30:00-05:00"],
    ],
    [
      "croner",
      "0 0 0 L 2 *",
      "UTC",
      "2022-01-01T00:00:00Z",
      ["2022-02-28T00:00:00+00:00", "2023-02-28T00:00:00+00:00", "2024-02-29T00:00:00+00:00"],
    ],
    ["croner", "0 0 0 * 2 FRI#L", "UTC", "2024-01-01T00:00:00Z", ["2024-02-23T00:00:00+00:00"]],
    [
      "croner",
      "0 12 1 * +MON-FRI",
      "UTC",
      "2024-01-02T00:00:00Z",
      ["2024-02-01T12:00:00+00:00", "2024-03-01T12:00:00+00:00", "2024-04-01T12:00:00+00:00"],
    ],
  ];
  it.each(agreed)("of %s: %s in %s after %s", (_, expression, zone, from, expected) => {
    expect(next(cron(expression, zone), from, expected.length, zone)).toEqual(expected);
  });

  /** The libraries (croner until 10) go on an hour later than the time that is not there; here it is the end of the gap, as in Vixie cron. */
  const atTheEndOfTheGap: [string, string, string, string, string, string][] = [
    ["croner", "0 30 2 * * *", "America/New_York", "2025-03-09T06:00:00Z", "2025-03-09T03:00:00-04:00", "03:30"],
    ["croner", "0 30 2 12 3 *", "America/New_York", "2023-03-12T00:00:00Z", "2023-03-12T03:00:00-04:00", "03:30"],
    ["croner", "0 30 1 * * *", "Europe/London", "2025-03-30T00:00:00Z", "2025-03-30T02:00:00+01:00", "02:30"],
    ["cron-parser", "30 2 * * 7", "Europe/Rome", "2025-03-28T23:59:59Z", "2025-03-30T03:00:00+02:00", "03:30"],
  ];
  it.each(atTheEndOfTheGap)(
    "of %s, but at the end of the gap: %s in %s after %s",
    (_, expression, zone, from, expected, theirs) => {
      expect(next(cron(expression, zone), from, 1, zone)).toEqual([expected]);
      expect(expected).not.toContain(theirs);
    },
  );

  /** cron-parser shifts a step within one hour out of the gap, and lets it run once in the hour that comes twice. Here it follows the clock. */
  it.each([
    ["2016-03-27T02:00:01+02:00", ["2016-03-28T03:00:00+03:00", "2016-03-28T03:20:00+03:00"]],
    [
      "2016-10-30T02:00:01+03:00",
      ["03:00:00+03:00", "03:20:00+03:00", "03:40:00+03:00", "03:00:00+02:00", "03:20:00+02:00", "03:40:00+02:00"].map(
        (time) => `2016-10-30T${time}`,
      ),
    ],
  ])("of cron-parser, but by the clock: */20 3 * * * in Europe/Athens after %s", (from, expected) => {
    expect(next(cron("*/20 3 * * *", "Europe/Athens"), from, expected.length, "Europe/Athens")).toEqual(expected);
  });
});

describe("the two nights of the year", () => {
  it.each([
    ["Europe/Berlin", "2026-03-28T12:00:00Z", "30 2 * * *", ["2026-03-29T03:00:00+02:00", "2026-03-30T02:30:00+02:00"]],
    ["Europe/Berlin", "2026-10-24T12:00:00Z", "30 2 * * *", ["2026-10-25T02:30:00+02:00", "2026-10-26T02:30:00+01:00"]],
    ["America/New_York", "2026-03-07T12:00:00Z", "30 2 * * *", ["2026-03-08T03:00:00-04:00", "2026-03-09T02:30:00-04:00"]],
    ["America/New_York", "2026-10-31T12:00:00Z", "30 1 * * *", ["2026-11-01T01:30:00-04:00", "2026-11-02T01:30:00-05:00"]],
    // Half an hour: 02:00 becomes 02:30, and 02:00 becomes 01:30.
    [
      "Australia/Lord_Howe",
      "2026-10-03T00:00:00Z",
      "15 2 * * *",
      ["2026-10-04T02:30:00+11:00", "2026-10-05T02:15:00+11:00"],
    ],
    [
      "Australia/Lord_Howe",
      "2026-04-04T00:00:00Z",
      "45 1 * * *",
      ["2026-04-05T01:45:00+11:00", "2026-04-06T01:45:00+10:30"],
    ],
    // At midnight: 00:00 becomes 01:00.
    ["Africa/Cairo", "2026-04-23T12:00:00Z", "0 0 * * *", ["2026-04-24T01:00:00+03:00", "2026-04-25T00:00:00+03:00"]],
    // Before midnight: 23:00 becomes the 00:00 of the next day, on a Saturday.
    ["America/Nuuk", "2026-03-28T12:00:00Z", "30 23 * * *", ["2026-03-29T00:00:00-01:00", "2026-03-29T23:30:00-01:00"]],
    ["America/Nuuk", "2026-03-22T12:00:00Z", "0 23 * * 6", ["2026-03-29T00:00:00-01:00", "2026-04-04T23:00:00-01:00"]],
  ])("in %s after %s a time that is named runs once: %s", (zone, from, expression, expected) => {
    expect(next(cron(expression, zone), from, expected.length, zone)).toEqual(expected);
  });

  it.each(["30 2,14 * * *", "30 2-3 * * *"])("a list or a range of times is named, too: %s", (expression) => {
    const times = next(cron(expression, "Europe/Berlin"), "2026-10-24T23:00:00Z", 4, "Europe/Berlin");
    expect(times.filter((time) => time.startsWith("2026-10-25T02:30"))).toEqual(["2026-10-25T02:30:00+02:00"]);
  });

  it.each([
    ["Europe/Berlin", "2026-10-25T00:00:00Z", 60],
    ["Australia/Lord_Howe", "2026-04-04T14:00:00Z", 30],
  ])("what follows the clock goes on each minute, also where it comes twice: %s", (zone, from) => {
    const of = cron("* * * * *", zone);
    const fromMs = Date.parse(from);
    const times = timesBetween(of, fromMs + 1, fromMs + 3 * 3_600_000 + 1, 1_000);
    expect(times).toEqual(Array.from({ length: 180 }, (_, i) => fromMs + (i + 1) * 60_000));
  });
});

describe("what is shown with a jitter that is longer than the time between two", () => {
  const body = { everyMs: 60_000, jitterMs: 3_600_000, task: { type: "t" } };
  const definition = definitionOf(PutSchedule.parse(body));
  const [afterMs, beforeMs] = [Date.parse("2026-11-21T00:00:00Z"), Date.parse("2026-11-21T02:00:00Z")];
  const shown = (id: string, more: Partial<Stretch> = {}) =>
    [...timesAhead(definition, id, { afterMs, beforeMs, ...more })].flatMap((one) => one ?? []);
  const dueOf = (times: ReturnType<typeof shown>): number[] => times.map(({ dueAt }) => Date.parse(dueAt));
  const ids = ["a", "b", "c", "d"];

  test.each(ids)("is due in order, and no sooner than what comes before the first: %s", (id) => {
    const times = shown(id);
    expect(times[0]?.at).toBe("2026-11-21T00:01:00.000Z");
    expect(dueOf(times)).toEqual(dueOf(times).toSorted((one, other) => one - other));
    const before = Array.from({ length: 60 }, (_, i) => afterMs - i * 60_000);
    const dueMs = Math.max(...before.map((atMs) => atMs + jitterOf(id, atMs, 3_600_000)));
    expect(dueOf(times)[0]).toBeGreaterThanOrEqual(dueMs);
  });

  test.each(ids)("has come and waits, where nothing was decided about it, and is due when it is decided: %s", (id) => {
    const undecided = { nextMs: afterMs - 1_200_000, lastMs: null };
    const times = shown(id, { undecided });
    const { timing } = definition as TaskDefinition;
    const policy = { timing, catchUp: "none", catchUpWindowMs: 0, catchUpMax: 1 } as const;
    const of = { id, ...undecided, keep: 100 };
    expect(dueTimes(policy, { ...of, nowMs: afterMs }).nextMs).toBe(Date.parse(times[0]?.at ?? ""));
    for (const { at, dueAt } of times.slice(0, 40)) {
      const dueMs = Date.parse(dueAt);
      expect(dueTimes(policy, { ...of, nowMs: dueMs - 1 }).nextMs).toBeLessThanOrEqual(Date.parse(at));
      expect(dueTimes(policy, { ...of, nowMs: dueMs }).nextMs).toBeGreaterThan(Date.parse(at));
    }
  });
});

test("what was planned by other rules of its zone is shown as it will be decided about, once, at the planned time", () => {
  // Kazakhstan is 5 hours ahead of UTC since March 2024, and was 6.
  const cron = { cron: "0 8 * * *", timeZone: "Asia/Almaty", task: { type: "t" } };
  const at = (text: string): number => Date.parse(`2026-11-${text}:00Z`);
  const shown = (planned: string, afterMs: number, lastMs: number | null = null, jitterMs = 0) => {
    const undecided = { nextMs: at(planned), lastMs };
    const stretch = { afterMs, beforeMs: at("06T00:00"), undecided };
    const times = [...timesAhead(definitionOf(PutSchedule.parse({ ...cron, jitterMs })), "a", stretch)];
    return times.flatMap((one) => (one === undefined ? [] : [[one.at.slice(8, 16), Date.parse(one.dueAt)]]));
  };
  const day = (text: string) => [text, at(text)];
  const [tomorrow, later] = [day("04T03:00"), day("05T03:00")];
  for (const now of ["03T02:30", "03T03:30"])
    expect(shown("03T04:00", at(now))).toEqual([["03T03:00", at("03T04:00")], tomorrow, later]);
  expect(shown("03T02:00", at("03T01:30"))).toEqual([day("03T03:00"), tomorrow, later]);
  expect(shown("03T04:00", at("03T03:30"), at("03T03:00"))).toEqual([tomorrow, later]);
  const jitterMs = 3_600_000;
  const dueMs = at("03T04:00") + jitterOf("a", at("03T04:00"), jitterMs);
  expect(shown("03T04:00", at("03T03:30"), null, jitterMs)[0]).toEqual(["03T03:00", dueMs]);
});

describe("the end of times", () => {
  const from = Date.parse("9998-12-31T23:59:00Z");
  it.each([
    ["at intervals", timing({ everyMs: 30_000 }), 1],
    ["at intervals from a late start", timing({ everyMs: 86_400_000 }, { startAt: "+010000-01-01T04:59:59.000Z" }), 0],
    ["until later", timing({ everyMs: 30_000 }, { endAt: "+010000-01-01T04:59:59.000Z" }), 1],
  ])("is before the year 9999, %s", (_, of, count) => {
    const times = timesBetween(of, from + 1, Number.POSITIVE_INFINITY, 100);
    expect(times).toHaveLength(count);
    for (const at of times) expect(new Date(at).getUTCFullYear()).toBe(9_998);
  });

  test("ends what is shown of hours, too", () => {
    const body = { hours: [{ from: "09:00", to: "10:00" }], observers: { names: ["a"] } };
    const hours = definitionOf(PutSchedule.parse(body));
    const times = [...timesAhead(hours, "x", { afterMs: from - 86_400_000, beforeMs: Number.POSITIVE_INFINITY })];
    expect(times.map((one) => one?.at)).toEqual(["9998-12-31T09:00:00.000Z", "9998-12-31T10:00:00.000Z"]);
  });
});

describe("years and rules", () => {
  it.each([
    // Samoa had no 30 December 2011; it went over the date line.
    ["Pacific/Apia", "0 12 * * *", "2011-12-29T00:00:00-10:00", ["2011-12-29T12:00:00-10:00", "2011-12-31T12:00:00+14:00"]],
    // Turkey stayed in summer time in 2016.
    ["Europe/Istanbul", "0 3 * * *", "2016-10-29T12:00:00Z", ["2016-10-30T03:00:00+03:00", "2016-10-31T03:00:00+03:00"]],
    // North Korea put its clocks forward by half an hour in May 2018.
    ["Asia/Pyongyang", "0 12 * * *", "2018-05-03T04:00:00Z", ["2018-05-04T12:00:00+08:30", "2018-05-05T12:00:00+09:00"]],
    ["Asia/Kathmandu", "0 6 * * *", "2026-01-01T00:00:00Z", ["2026-01-01T06:00:00+05:45"]],
    ["UTC", "14 3 19 1 *", "2038-01-01T00:00:00Z", ["2038-01-19T03:14:00+00:00", "2039-01-19T03:14:00+00:00"]],
    ["UTC", "* * * * * *", "2038-01-19T03:14:06Z", ["2038-01-19T03:14:07+00:00", "2038-01-19T03:14:08+00:00"]],
    ["Europe/Berlin", "0 0 29 2 *", "2096-03-01T00:00:00Z", ["2104-02-29T00:00:00+01:00"]],
    ["UTC", "0 0 31 * *", "2026-01-31T00:00:00Z", ["2026-03-31T00:00:00+00:00", "2026-05-31T00:00:00+00:00"]],
    ["UTC", "0 0 13 * 5", "2026-02-01T00:00:00Z", ["2026-02-06T00:00:00+00:00", "2026-02-13T00:00:00+00:00"]],
  ])("in %s: %s after %s", (zone, expression, from, expected) => {
    expect(next(cron(expression, zone), from, expected.length, zone)).toEqual(expected);
  });
});

describe("everyMs, startAt and endAt", () => {
  const HOUR = timing({ everyMs: 3_600_000 });
  test("counts from 1970, or from startAt", () => {
    expect(next(HOUR, "2026-03-29T00:59:59.999Z", 2, "UTC")).toEqual([
      "2026-03-29T01:00:00+00:00",
      "2026-03-29T02:00:00+00:00",
    ]);
    const started = { ...HOUR, startAt: "2026-03-29T00:20:00.000Z" };
    expect(next(started, "2026-01-01T00:00:00Z", 2, "UTC")).toEqual([
      "2026-03-29T00:20:00+00:00",
      "2026-03-29T01:20:00+00:00",
    ]);
  });
  test("startAt is the first that may be, endAt is none any more", () => {
    const of = cron("0 * * * *", "UTC", { startAt: "2026-01-01T05:00:00.000Z", endAt: "2026-01-01T07:00:00.000Z" });
    expect(next(of, "2020-01-01T00:00:00Z", 9, "UTC")).toEqual(["2026-01-01T05:00:00+00:00", "2026-01-01T06:00:00+00:00"]);
  });
});

test.each([
  [cron("*/7 * * * *", "Europe/Berlin"), 100],
  [cron("0 9-17 * * mon-fri", "America/New_York"), 40],
  [cron("0 0 29 2 *", "UTC"), 3],
  [timing({ everyMs: 61_000 }), 500],
])("the last times of a stretch are the same as the last of all: %j", (of, count) => {
  const [from, to] = [Date.parse("2023-06-01T00:00:00Z"), Date.parse("2026-11-01T01:30:00Z")];
  const sinceMs = count === 3 ? Date.parse("2000-01-01T00:00:00Z") : Math.max(from, to - 40 * 86_400_000);
  const all = timesBetween(of, sinceMs, to, Number.POSITIVE_INFINITY);
  expect(lastTimesBetween(of, sinceMs, to, count)).toEqual(all.slice(-count));
});

test("of each second of a month that is over only the last ones are looked for", () => {
  const of = cron("* * * * 1 *", "UTC");
  const [from, to] = [Date.parse("2026-01-01T00:00:00Z"), Date.parse("2026-02-12T00:00:00Z")];
  // All of them, 2,700,000, would take minutes.
  const last = Array.from({ length: 100 }, (_, i) => Date.parse("2026-01-31T23:58:20Z") + i * 1_000);
  expect(lastTimesBetween(of, from, to, 100)).toEqual(last);
});

test("jitter is the same each time, lies within its bound, and spreads neighbours", () => {
  const at = Date.parse("2026-11-21T00:00:00Z");
  const some = Array.from({ length: 1_000 }, (_, i) => jitterOf("a", at + i * 60_000, 9_999));
  expect(some).toEqual(some.map((_, i) => jitterOf("a", at + i * 60_000, 9_999)));
  expect(Math.min(...some)).toBeGreaterThanOrEqual(0);
  expect(Math.max(...some)).toBeLessThanOrEqual(9_999);
  const tenths = new Set(some.slice(0, 100).map((ms) => Math.floor(ms / 1_000)));
  expect(tenths.size).toBe(10);
  expect(jitterOf("a", at, 0)).toBe(0);
  expect(new Set(Array.from({ length: 50 }, (_, i) => jitterOf(`s${i}`, at, 9_999))).size).toBeGreaterThan(45);
});

test.each([
  ["* * * *", "five fields"],
  ["* * * * * * *", "it has 7"],
  ["@daily", "five fields"],
  ["2030-01-01T00:00:00", "five fields"],
  ["60 * * * *", "minute: 60 is not in 0 to 59"],
  ["* 24 * * *", "hour: 24 is not in 0 to 23"],
  ["61 * * * * *", "second: 61 is not in 0 to 59"],
  ["* * 0 * *", "day of month: 0 is not in 1 to 31"],
  ["0 0 12 32 * *", "day of month: 32 is not in 1 to 31"],
  ["0 12 1,32 * *", "day of month: 32 is not in 1 to 31"],
  ["* * * 13 *", "month: 13 is not in 1 to 12, or JAN to DEC"],
  ["* * * JAN-13/2 *", "month: 13 is not in 1 to 12, or JAN to DEC"],
  ["* * * * 8", "day of week: 8 is not in 0 to 7, or SUN to SAT"],
  ["0 0 12 * * foo", "day of week: foo is not in 0 to 7, or SUN to SAT"],
  ["a * * * *", "minute: a is not in 0 to 59"],
  ["5-1 * * * *", "minute: 5-1 goes backwards"],
  ["1,,2 * * * *", "minute: there is nothing between two commas"],
  ["*/0 * * * *", "minute: */0: a step is from 1 to 60"],
  ["* * * * */8", "day of week: */8: a step is from 1 to 7"],
  ["5/10 * * * *", "minute: 5/10: a step is of all (*/10) or of a range (5-59/10)"],
  ["0 0 L-3 * *", "day of month: L-3 cannot be read; a value is in 1 to 31"],
  ["0 0 * * 5#6", "day of week: 5#6 cannot be read"],
  ["0 0 30 2 *", "never due"],
])("an expression that is none is refused with words: %s", (expression, words) => {
  expect(cronFlaw(expression, "UTC")).toEqual(expect.stringContaining(words));
});

test.each(["* * * * *", "0 0 9 * * MON-FRI", "*/5 1-3 1,15 JAN *", "0 0 L * *", "0 12 * * 5#2"])(
  "is one: %s",
  (expression) => {
    expect(cronFlaw(expression, "Europe/Berlin")).toBeUndefined();
  },
);
