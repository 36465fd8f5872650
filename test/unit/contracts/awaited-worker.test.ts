import { awaitedWorker } from "@unacked/contracts";
import { expect, it } from "vitest";
import { observerView, serviceView } from "../cli/views.ts";

const waiting = observerView({ status: "Created", service: null, currentRunId: null });

it.each([
  ["no service", [], "a service of pool default: none is alive"],
  ["one of another pool", [serviceView({ pool: "eu" })], "a service of pool default: none is alive"],
  ["one that is not heard", [serviceView({ state: "Suspect" })], "a service of pool default: none is heard"],
  [
    "those that take nothing",
    [serviceView({ draining: true }), serviceView({ cordoned: true })],
    "a service of pool default that takes observers: all drain, or are cordoned",
  ],
  [
    "one without its type",
    [serviceView({ types: ["poller"] })],
    "a service of pool default that has the type ticker: none has it",
  ],
  ["one that is full", [serviceView({ free: 0 })], "a free worker of pool default"],
  [
    "one without memory for more",
    [serviceView({ free: 0, notConsuming: "its memory is nearly used up" })],
    "a free worker of pool default: its memory is nearly used up",
  ],
  ["one with a worker free", [serviceView({ free: 0 }), serviceView({ free: 1 })], undefined],
])("what an observer without a run waits for, with %s", (_case, services, worker) => {
  expect(awaitedWorker(waiting, services)).toBe(worker);
});

it.each([
  ["no service", [], "a service of pool default: none is alive"],
  ["one without its type", [serviceView({ types: [] })], "a service of pool default that has the type ticker: none has it"],
  [
    "one with a worker free",
    [serviceView({ free: 1 })],
    "a free worker of pool default: its time has come, and there is none",
  ],
])("what one whose time has come waits for, with %s", (_case, services, worker) => {
  const late = observerView({ status: "Scheduled", startProblem: "no-free-worker", service: null, currentRunId: null });
  expect(awaitedWorker(late, services)).toBe(worker);
  expect(awaitedWorker({ ...late, startProblem: null }, services)).toBeUndefined();
});

it("one that runs, has asked for admission, or is not to run, waits for no worker", () => {
  for (const status of ["Processing", "Paused", "OnDeleting", "Failed"] as const)
    expect(awaitedWorker({ ...waiting, status }, [])).toBeUndefined();
  expect(awaitedWorker({ ...waiting, waitsFor: "admission" }, [])).toBeUndefined();
  expect(awaitedWorker({ ...waiting, status: "Redistributing" }, [])).toBeDefined();
});
