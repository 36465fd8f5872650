import { describe, expect, test } from "vitest";
import {
  CALENDAR_DAYS,
  calendarOf,
  dateIn,
  endOfCalendar,
  sayDay,
} from "../../../services/status-page/src/store/calendar.ts";

const time = (local: string, wanted: "running" | "paused" | null = null) => ({
  at: new Date(local).toISOString(),
  local,
  dueAt: new Date(local).toISOString(),
  wanted,
});

describe("the calendar of a schedule", () => {
  test("has two weeks from today on, also over the end of a year", () => {
    const days = calendarOf([], "2026-12-25", null);
    expect(days.map(({ date }) => date)).toHaveLength(CALENDAR_DAYS);
    expect([days[0]?.date, days.at(-1)?.date, endOfCalendar("2026-12-25")]).toEqual([
      "2026-12-25",
      "2027-01-07",
      "2027-01-09T00:00:00Z",
    ]);
  });

  test("stands by the clock of the schedule, whatever the viewer's is", () => {
    const [day] = calendarOf([time("2026-11-21T06:00:00-05:00"), time("2026-11-21T18:00:00-05:00")], "2026-11-21", null);
    expect(day?.ticks.map(({ x }) => x)).toEqual([0.25, 0.75]);
    expect(day && sayDay(day)).toBe("2 times");
  });

  test("of observers has when they run, from one change to the next", () => {
    const times = [
      time("2026-11-21T16:00:00+01:00", "paused"),
      time("2026-11-22T09:30:00+01:00", "running"),
      time("2026-11-22T12:00:00+01:00", "paused"),
      time("2026-11-23T22:00:00+01:00", "running"),
    ];
    const days = calendarOf(times, "2026-11-21", "running").slice(0, 5).map(sayDay);
    expect(days).toEqual([
      "running 00:00–16:00",
      "running 09:30–12:00",
      "running 22:00–24:00",
      "running 00:00–24:00",
      "running 00:00–24:00",
    ]);
  });

  test("begins with today where the schedule is", () => {
    const ms = Date.parse("2026-11-21T23:30:00Z");
    expect([dateIn("Pacific/Auckland", ms), dateIn("UTC", ms), dateIn("America/New_York", ms)]).toEqual([
      "2026-11-22",
      "2026-11-21",
      "2026-11-21",
    ]);
    expect(dateIn("Mars/Olympus", ms)).toBeUndefined();
  });
});
