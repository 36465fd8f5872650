import { DEFAULT_RETRY, newObserverId, newRunId } from "@unacked/contracts";
import { beforeEach, expect, test } from "vitest";
import type { SlotHandlers } from "../../../services/observer-service/src/keeper/slots/handlers/slot-handlers.ts";
import { createLog } from "../../../services/observer-service/src/log.ts";
import { eventually } from "../../support/eventually.ts";
import { openBareHandlers } from "../../support/slots/bare-folder.ts";

const log = createLog("silent");
let handlers: SlotHandlers;

beforeEach(async () => {
  handlers = await openBareHandlers(["deaf", "any"], { count: 1, max: 9, stopTimeoutMs: 100 }, log);
});

/** An observer of this type that is started again whenever its slot has ended. */
function observe(type: string) {
  const start = { observerId: newObserverId(), name: type, type, labels: {}, params: {}, retry: DEFAULT_RETRY };
  const seen = { interrupted: 0, placed: 0 };
  const host = {
    onPlaced: () => void (seen.placed += 1),
    onInterrupted: () => {
      seen.interrupted += 1;
      begin();
    },
    onStuck: () => undefined,
  };
  let attempt: ReturnType<typeof handlers.start>;
  const begin = (): void => {
    attempt = handlers.start(host as never, { start, runId: newRunId(), log } as never);
  };
  begin();
  return {
    seen,
    fail: () => attempt.abort({ kind: "uncaught", error: { name: "Error", message: "nobody caught this" } }),
  };
}

test("Who fails, and does not hear that it is to end, costs those in its slot a restart once: it tries again by itself", async () => {
  const [deaf, neighbour] = [observe("deaf"), observe("any")];
  for (let times = 1; times <= 3; times += 1) {
    await eventually(() => expect(deaf.seen.placed).toBe(times));
    deaf.fail();
    await eventually(() => expect(deaf.seen.interrupted).toBe(times));
  }
  await eventually(() => expect(neighbour.seen.placed).toBe(2));
  expect(neighbour.seen.interrupted).toBe(1);
});

test("Who is told to end while the death of its slot is being told is not waited for: no slot is ended for it later", async () => {
  const placed: string[] = [];
  const stuck: string[] = [];
  const attempts = new Map<string, ReturnType<typeof handlers.start>>();
  const host = {
    onInterrupted: () => {
      for (const attempt of attempts.values()) attempt.abort({ kind: "lease-lost" });
    },
    onStuck: ({ start }: { start: { name: string } }) => void stuck.push(start.name),
    onPlaced: ({ start }: { start: { name: string } }) => void placed.push(start.name),
  };
  const begin = (name: string, type: string) => {
    const start = { observerId: newObserverId(), name, type, labels: {}, params: {}, retry: DEFAULT_RETRY };
    const run = { start, runId: newRunId(), log } as never;
    const attempt = handlers.start(host as never, run);
    attempts.set(name, attempt);
    return { run, attempt };
  };
  begin("first", "any");
  const { run } = begin("second", "any");
  await eventually(() => expect(handlers.slots().some(({ runs }) => runs === 2)).toBe(true));
  handlers.endForCertain([run]);
  await eventually(() => expect(handlers.slots().every(({ runs }) => runs === 0)).toBe(true));
  const { attempt } = begin("deaf", "deaf");
  await eventually(() => expect(placed).toContain("deaf"));
  attempt.abort({ kind: "stopped" });
  // Its limit began after those that there should not be.
  await eventually(() => expect(stuck).toContain("deaf"));
  expect(stuck).toEqual(["deaf"]);
});
