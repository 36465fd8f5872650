import { expect, test } from "vitest";
import { shownTime } from "../../../services/observer-manager/src/domain/shown-time.ts";

test.each([
  [new Date("2026-11-20T08:00:00Z"), "2026-11-20T08:00:00.000Z"],
  [Date.UTC(9_999, 11, 31), "9999-12-31T00:00:00.000Z"],
  [8_640_000_000_000_000, "9999-12-31T23:59:59.999Z"],
  [Number.POSITIVE_INFINITY, "9999-12-31T23:59:59.999Z"],
  [new Date(Number.NaN), "9999-12-31T23:59:59.999Z"],
  [new Date("-000001-01-01T00:00:00Z"), "0001-01-01T00:00:00.000Z"],
])("%s is shown as %s", (time, shown) => {
  expect(shownTime(time)).toBe(shown);
});
