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
    warn: (fields: Record<string, unknown>, msg: string) => void lines.push({ level: "warn", msg, ...fields }),
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

test("one that has failed for good is a warning, with why; of a crowd that of the first stands for all", async () => {
  const { runLog, lines } = logAt("info");
  const error = { name: "InvalidParams", message: "params.path is missing", stack: "at run (feed.ts:1:1)" };
  const failed = { kind: "RunFailed", attempts: 0, error } as const;
  runLog.ended(run("one"), failed);
  runLog.ended(run("well"), { kind: "RunCompleted" });
  await turn();
  const why = { name: "InvalidParams", message: "params.path is missing" };
  expect(lines).toMatchObject([
    { event: "run-ended", observer: "well", fact: "RunCompleted" },
    { level: "warn", msg: "the run has failed for good", event: "run-ended", observer: "one", attempts: 0, error: why },
  ]);
  expect(lines[1]?.["error"]).toEqual(why);
  for (let i = 0; i < 1_000; i += 1) runLog.ended(run(`n-${i}`), failed);
  await turn();
  expect(lines.slice(2)).toMatchObject([{ level: "warn", event: "runs-ended", count: 1_000, error: why }]);
});
