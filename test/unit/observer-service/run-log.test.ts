import { setImmediate as turn } from "node:timers/promises";
import { newObserverId, newRunId } from "@unacked/contracts";
import { expect, test } from "vitest";
import { RunLog } from "../../../services/observer-service/src/keeper/runs/run-log.ts";
import type { Log } from "../../../services/observer-service/src/log.ts";

function logAt(level: string) {
  const lines: Record<string, unknown>[] = [];
  const log = {
    isLevelEnabled: (asked: string) => asked === "info" || asked === level,
    info: (fields: Record<string, unknown>) => void lines.push(fields),
  };
  return { runLog: new RunLog(log as unknown as Log), lines };
}

const run = (name: string) => ({
  runId: newRunId(),
  start: { name, type: "stamp", observerId: newObserverId() } as Parameters<RunLog["started"]>[0]["start"],
});

test("a few runs have a line each, with whose they are", async () => {
  const { runLog, lines } = logAt("info");
  const one = run("one");
  runLog.started(one, { kind: "RunStarted", attempt: 2 });
  runLog.ended(one, { kind: "RunStopped", reason: "stopped" });
  await turn();
  const who = { observer: "one", type: "stamp", observerId: one.start.observerId, runId: one.runId };
  expect(lines).toMatchObject([
    { event: "run-started", ...who, attempt: 2 },
    { event: "run-ended", ...who, fact: "RunStopped", reason: "stopped" },
  ]);
});

test("a crowd of one turn is one line with its number, and a line each at level debug", async () => {
  const [info, debug] = [logAt("info"), logAt("debug")];
  for (let i = 0; i < 1_000; i += 1)
    for (const { runLog } of [info, debug]) runLog.started(run(`n-${i}`), { kind: "RunStarted", attempt: 1 });
  await turn();
  expect(info.lines).toMatchObject([
    { event: "runs-started", count: 1_000, observers: ["n-0", "n-1", "n-2", "n-3", "n-4"] },
  ]);
  expect(debug.lines).toHaveLength(1_000);
});
