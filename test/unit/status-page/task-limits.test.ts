import type { TaskTypeView } from "@unacked/contracts";
import { expect, test } from "vitest";
import { changeOf, flawsOf, formOf } from "../../../services/status-page/src/store/task-limits.ts";

const TYPE: TaskTypeView = {
  type: "resize",
  paused: false,
  maxRunning: 7,
  minRunning: 0,
  ratePerSecond: null,
  outside: false,
  inFlight: 3,
  services: 2,
  changedAt: null,
};

test("a form that nobody touched changes nothing", () => {
  expect(changeOf(TYPE, formOf(TYPE))).toBeNull();
});

test("only what differs is sent: what somebody else changes meanwhile stays", () => {
  expect(changeOf(TYPE, { ...formOf(TYPE), maxRunning: "" })).toEqual({ maxRunning: null });
  expect(changeOf(TYPE, { ...formOf(TYPE), paused: true, minRunning: "2", ratePerSecond: "50" })).toEqual({
    paused: true,
    minRunning: 2,
    ratePerSecond: 50,
  });
});

test.each([
  ["maxRunning", "0"],
  ["maxRunning", "many"],
  ["ratePerSecond", "1.5"],
  ["ratePerSecond", "-1"],
  ["minRunning", "8"],
  ["minRunning", "x"],
])("%s: %s cannot be", (name, value) => {
  expect(Object.keys(flawsOf({ ...formOf(TYPE), [name]: value }))).toEqual([name]);
});
