import { DEFAULT_RETRY, newMessageId, newObserverId, type RunId, type ServiceEvent } from "@unacked/contracts";
import { expect, test } from "vitest";
import { Runner } from "../../services/observer-service/src/keeper/runs/runner.ts";
import { eventually } from "../support/eventually.ts";
import { type KeptLine, keptLog } from "../support/logs/kept-log.ts";
import { openSlots } from "../support/slots/real-slots.ts";

/** A real slot, its keeper's runner, and what the log and the tails of runs say of an observer that returns without awaiting all. */
async function runLeftBehind(how: "throws" | "logs" | "emits") {
  const lines: KeptLine[] = [];
  const log = keptLog(lines);
  const { handlers, stopTimeoutMs } = await openSlots("left-behind", 1, 10_000, {}, log);
  const told: ServiceEvent[] = [];
  const runner = new Runner({
    ...{ handlers, log, stopTimeoutMs, tailBytes: 8_192 },
    events: { tell: (event, onConfirmed) => (told.push(event), onConfirmed?.()) },
    errors: { report: () => Promise.resolve() },
    holds: () => true,
    output: () => Promise.resolve(),
  });
  const ids = { observerId: newObserverId(), messageId: newMessageId(), revision: 1, name: "forgetful" };
  const start = { ...ids, type: "left-behind", params: { how }, labels: {}, retry: DEFAULT_RETRY, pool: "default" };
  const delivery = { generation: 1, deliveryCount: 0, settle: () => true, queue: "q", shed: () => undefined };
  runner.accept({ start: { ...start, createdAt: new Date().toISOString() }, delivery: delivery as never });
  await eventually(() => expect(told.map(({ kind }) => kind)).toContain("RunCompleted"));
  const { runId } = told[0] as { runId: RunId };
  const tail = () => runner.tails.ofEnded(runId)?.after(0, 10) ?? [];
  return { who: { observer: "forgetful", type: "left-behind", observerId: ids.observerId, runId }, lines, tail };
}

test("what an observer that has completed left behind throws: the log says so, and so does what its run has said", async () => {
  const { who, lines, tail } = await runLeftBehind("throws");
  const error = { name: "Error", message: "the table is gone", stack: expect.stringContaining("left-behind.ts:13") };
  const late = () => lines.filter(({ event }) => event === "run-threw-after-end");
  await eventually(() => expect(late()).toMatchObject([{ level: "warn", ...who, error, times: 1 }]));
  expect(tail()).toMatchObject([
    { level: "error", message: expect.stringContaining("the table is gone"), stack: error.stack },
  ]);
});

test.each(["logs", "emits"] as const)("one that %s after its end is warned of, once", async (how) => {
  const { who, lines, tail } = await runLeftBehind(how);
  const late = () => lines.filter(({ event }) => event === "run-goes-on-after-end");
  await eventually(() => expect(late()).toMatchObject([{ level: "warn", ...who, times: 1 }]));
  expect(late()[0]?.msg).toBe("it goes on after its end: an await is missing?");
  expect(tail()).toMatchObject([{ message: "saving" }, { level: "warn", message: late()[0]?.msg }]);
  expect(lines.filter(({ msg }) => msg === "still here")).toEqual([]);
});
