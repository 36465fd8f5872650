import { type ScheduledHours, WEEKDAYS } from "@unacked/contracts";
import { describe, expect, it, test } from "vitest";
import {
  type Change,
  changesAfter,
  type Hours,
  nextChange,
  wantedAt,
} from "../../../services/observer-manager/src/domain/schedules/hours.ts";
import { levelNow } from "../../../services/observer-manager/src/domain/schedules/level.ts";
import { localText } from "../../../services/observer-manager/src/domain/schedules/zone.ts";
import { cpuMsOf } from "../../support/time/cpu-time.ts";

const WORKDAYS: ScheduledHours["days"] = ["mon", "tue", "wed", "thu", "fri"];
const NYSE: Hours = {
  hours: [{ days: WORKDAYS, from: "09:30", to: "16:00" }],
  except: ["2026-11-26"],
  timeZone: "America/New_York",
  wanted: "running",
};
const daily = (from: string, to: string, timeZone: string): Hours => ({
  hours: [{ days: [...WEEKDAYS], from, to }],
  except: [],
  timeZone,
  wanted: "running",
});
const changes = (of: Hours, from: string, count: number): string[] => {
  const told: string[] = [];
  for (let at: number | undefined = Date.parse(from); told.length < count; ) {
    at = nextChange(of, at);
    if (at === undefined) break;
    told.push(`${localText(at, of.timeZone)} ${wantedAt(of, at)}`);
  }
  return told;
};

describe("market hours", () => {
  it.each([
    ["2026-11-20T09:29:59.999-05:00", "paused"],
    ["2026-11-20T09:30:00-05:00", "running"],
    ["2026-11-20T15:59:59.999-05:00", "running"],
    ["2026-11-20T16:00:00-05:00", "paused"],
    ["2026-11-21T12:00:00-05:00", "paused"],
    ["2026-11-26T12:00:00-05:00", "paused"], // Thanksgiving
    ["2026-07-20T09:30:00-04:00", "running"],
  ])("at %s: %s", (at, wanted) => {
    expect(wantedAt(NYSE, Date.parse(at))).toBe(wanted);
    const other = wanted === "running" ? "paused" : "running";
    expect(wantedAt({ ...NYSE, wanted: "paused" }, Date.parse(at))).toBe(other);
  });

  test("change when they open and close, over the weekend, the holiday and the night that is an hour longer", () => {
    expect(changes(NYSE, "2026-11-25T12:00:00-05:00", 3)).toEqual([
      "2026-11-25T16:00:00-05:00 paused",
      "2026-11-27T09:30:00-05:00 running",
      "2026-11-27T16:00:00-05:00 paused",
    ]);
    expect(changes(NYSE, "2026-10-30T12:00:00-04:00", 2)).toEqual([
      "2026-10-30T16:00:00-04:00 paused",
      "2026-11-02T09:30:00-05:00 running",
    ]);
  });
});

test.each([
  [
    "over midnight",
    daily("22:00", "06:00", "Europe/Berlin"),
    "2026-11-20T12:00:00+01:00",
    ["2026-11-20T22:00:00+01:00 running", "2026-11-21T06:00:00+01:00 paused"],
  ],
  [
    "until midnight",
    daily("18:00", "24:00", "UTC"),
    "2026-11-20T12:00:00Z",
    ["2026-11-20T18:00:00+00:00 running", "2026-11-21T00:00:00+00:00 paused"],
  ],
  [
    "from a time that never comes",
    daily("02:30", "05:00", "Europe/Berlin"),
    "2026-03-28T12:00:00Z",
    ["2026-03-29T03:00:00+02:00 running", "2026-03-29T05:00:00+02:00 paused"],
  ],
  [
    "from a time that comes twice",
    daily("02:30", "05:00", "Europe/Berlin"),
    "2026-10-24T12:00:00Z",
    ["2026-10-25T02:30:00+02:00 running", "2026-10-25T05:00:00+01:00 paused"],
  ],
  [
    "in half an hour's night",
    daily("02:10", "03:00", "Australia/Lord_Howe"),
    "2026-10-03T00:00:00Z",
    ["2026-10-04T02:30:00+11:00 running", "2026-10-04T03:00:00+11:00 paused"],
  ],
  [
    "that meet",
    {
      ...daily("09:00", "12:00", "UTC"),
      hours: [
        { days: [...WEEKDAYS], from: "09:00", to: "12:00" },
        { days: [...WEEKDAYS], from: "12:00", to: "15:00" },
      ],
    },
    "2026-11-20T08:00:00Z",
    ["2026-11-20T09:00:00+00:00 running", "2026-11-20T15:00:00+00:00 paused"],
  ],
  ["that never end", { ...daily("00:00", "24:00", "UTC") }, "2026-11-20T08:00:00Z", []],
] as [string, Hours, string, string[]][])("hours %s", (_, of, from, expected) => {
  expect(changes(of, from, Math.max(1, expected.length))).toEqual(expected);
});

describe("hours in many pieces", () => {
  const clock = (halfHours: number): string =>
    `${String(Math.floor(halfHours / 2)).padStart(2, "0")}:${halfHours % 2 === 0 ? "00" : "30"}`;
  const pieces = (step: number): Hours => ({
    ...daily("00:00", "00:30", "America/New_York"),
    hours: Array.from({ length: 48 / step }, (_, i) => ({
      days: [...WEEKDAYS],
      from: clock(i * step),
      to: clock(i * step + 1),
    })),
  });
  const time = (minutes: number): string =>
    `${String(Math.floor(minutes / 60)).padStart(2, "0")}:${String(minutes % 60).padStart(2, "0")}`;
  const piece = (minutes: number) => ({ days: [...WEEKDAYS], from: time(minutes), to: time(minutes + 14) });
  /** A walk through a thousand of them. */
  function walk(of: Hours, from: string): Change[] {
    const told: Change[] = [];
    for (const change of changesAfter(of, Date.parse(from))) if (told.push(change) === 1_000) break;
    return told;
  }
  // A look is made every 30 s, and a page asks for a thousand: each in the time of few looks at a clock.
  test("that never end are looked through, a year of them", () => {
    expect(nextChange(pieces(1), Date.parse("2026-11-20T08:00:00Z"))).toBeUndefined();
  });
  test("are looked through day by day, also where the clock is put back", () => {
    const of = { ...pieces(2), timeZone: "Europe/Berlin", hours: Array.from({ length: 50 }, (_, i) => piece(i * 28)) };
    let told: ReturnType<typeof walk> = [];
    const tookMs = cpuMsOf(() => {
      told = walk(of, "2026-10-20T00:00:00Z");
    });
    expect(tookMs).toBeLessThan(7_500); // it was 15 s, begun again for each
    for (const [i, { atMs, wanted }] of told.entries())
      if (i % 97 === 0) {
        expect(wantedAt(of, atMs)).toBe(wanted);
        expect(nextChange(of, atMs)).toBe(told[i + 1]?.atMs);
      }
  });
  test("change a thousand times, over the night that is an hour longer", () => {
    const of = pieces(2);
    const told = walk(of, "2026-10-25T00:00:00-04:00").map(
      ({ atMs, wanted }) => `${localText(atMs, of.timeZone)} ${wanted}`,
    );
    expect(told.slice(0, 2)).toEqual(["2026-10-25T00:30:00-04:00 paused", "2026-10-25T01:00:00-04:00 running"]);
    expect(new Set(told).size).toBe(1_000);
    expect(told.at(-1)?.slice(0, 10)).toBe("2026-11-14");
  });
});

describe("what is wanted now", () => {
  const at = (text: string): number => Date.parse(text);
  const friday = {
    wanted: "running",
    sinceMs: at("2026-11-20T09:30:00-05:00"),
    nextMs: at("2026-11-20T16:00:00-05:00"),
  } as const;

  test("of a schedule that is new: from now on", () => {
    const nowMs = at("2026-11-20T12:00:00-05:00");
    const level = levelNow(NYSE, { wanted: null, sinceMs: null, nextMs: null }, nowMs);
    expect(level).toMatchObject({ wanted: "running", sinceMs: nowMs, nextMs: friday.nextMs, isNew: true, passed: [] });
  });
  test("between two changes: as before", () => {
    const level = levelNow(NYSE, friday, at("2026-11-20T15:59:59-05:00"));
    expect(level).toMatchObject({ ...friday, wanted: "running", isNew: false });
  });
  test("at a change: the other, on time", () => {
    const level = levelNow(NYSE, friday, friday.nextMs);
    const sinceMs = friday.nextMs;
    expect(level).toMatchObject({
      wanted: "paused",
      sinceMs,
      nextMs: at("2026-11-23T09:30:00-05:00"),
      isNew: true,
      isOnTime: true,
    });
  });
  test("after a stop over several: what holds now, and the others are told", () => {
    const level = levelNow(NYSE, friday, at("2026-11-23T10:00:00-05:00"));
    expect(level).toMatchObject({ wanted: "running", sinceMs: at("2026-11-23T09:30:00-05:00"), isOnTime: false });
    expect(level.passed).toEqual([{ atMs: friday.nextMs, wanted: "paused" }]);
  });
  test("with the clock put back by a moment: as before", () => {
    const level = levelNow(NYSE, friday, friday.sinceMs - 1_000);
    expect(level).toMatchObject({ ...friday, wanted: "running", isNew: false });
  });
  test("with a change written by other rules of its zone, at which nothing changes any more: as before, until it does", () => {
    // Kazakhstan is 5 hours ahead of UTC since March 2024, and was 6.
    const of = daily("08:00", "20:00", "Asia/Almaty");
    const [sinceMs, nextMs] = [at("2026-11-02T20:00:00+06:00"), at("2026-11-03T08:00:00+06:00")];
    const opensMs = at("2026-11-03T08:00:00+05:00");
    const level = levelNow(of, { wanted: "paused", sinceMs, nextMs }, nextMs);
    expect(level).toMatchObject({ wanted: "paused", sinceMs, nextMs: opensMs, isNew: false, passed: [] });
    expect(levelNow(of, { wanted: "paused", sinceMs, nextMs }, opensMs)).toMatchObject({ sinceMs: opensMs, passed: [] });
  });
  test("with a clock that was ahead set back: what it says now", () => {
    const nowMs = at("2026-11-20T08:00:00-05:00");
    const level = levelNow(NYSE, friday, nowMs);
    expect(level).toMatchObject({ wanted: "paused", sinceMs: nowMs, nextMs: friday.sinceMs, isNew: true, passed: [] });
  });
});
