import {
  type Checkpoint,
  DEFAULT_RETRY,
  decodeBody,
  MAX_START_BYTES,
  newMessageId,
  newObserverId,
  ReportedStart,
  type StartObserver,
} from "@unacked/contracts";
import { describe, expect, test } from "vitest";
import { newLiveRun } from "../../../services/observer-service/src/keeper/runs/live-run.ts";
import { RunTeller } from "../../../services/observer-service/src/keeper/runs/run-teller.ts";
import { createLog } from "../../../services/observer-service/src/log.ts";

const log = createLog("silent");
const GIVEN: Checkpoint = { number: 3, value: '{"n":3}' };
const SAVED: Checkpoint = { number: 4, value: '{"n":4}' };
const FAILED = { kind: "RunFailed", attempts: 1, error: { name: "E", message: "m" } } as const;

interface Told {
  saved?: Checkpoint;
  params?: unknown;
  reason?: "unknown-observer" | "retries-used-up";
}

/** What is reported of a run that was admitted with that token, or not at all. */
function reported(fencingToken: number | undefined, { saved, params = {}, reason = "unknown-observer" }: Told = {}) {
  const start: StartObserver = {
    observerId: newObserverId(),
    revision: 1,
    messageId: newMessageId(),
    name: "one",
    type: "saves",
    params,
    labels: {},
    retry: DEFAULT_RETRY,
    pool: "default",
    createdAt: new Date().toISOString(),
  };
  const run = newLiveRun({ start, delivery: { queue: "q" } as never, hasCheckpoint: true }, log);
  if (fencingToken !== undefined) run.admission = { fencingToken, ownTokens: 0, checkpoint: GIVEN };
  if (saved !== undefined) run.saved = saved;
  const bodies: Buffer[] = [];
  const report = (_: unknown, { body }: { body: Buffer }) => Promise.resolve(void bodies.push(body));
  const teller = new RunTeller({ events: { tell() {} }, errors: { report }, holds: () => true, log });
  const fact = reason === "unknown-observer" ? ({ kind: "RunStopped", reason: "unknown" } as const) : FAILED;
  teller.report(run, { kind: "report", reason, fact } as never, () => undefined);
  const decoded = decodeBody(ReportedStart, bodies[0] ?? Buffer.of());
  const { fencingToken: told, checkpoint, ...rest } = decoded.ok ? decoded.value : expect.fail(decoded.reason);
  expect(rest).toEqual(start);
  return { fencingToken: told, checkpoint };
}

describe("the report of a run whose observer the books do not have", () => {
  test("says where it has got to: its token, and what it has saved last", () => {
    expect(reported(5_000, { saved: SAVED })).toEqual({ fencingToken: 5_000, checkpoint: SAVED });
  });

  test("says what it was given, where it has saved nothing", () => {
    expect(reported(5_000)).toEqual({ fencingToken: 5_000, checkpoint: GIVEN });
  });

  test("says nothing of it where it was never admitted, or where that would make it too long", () => {
    expect(reported(undefined)).toEqual({});
    const almost = "x".repeat(MAX_START_BYTES - 1_000);
    expect(reported(5_000, { params: almost, saved: { number: 4, value: `"${"x".repeat(2_000)}"` } })).toEqual({});
  });

  test("nor where the books have it", () => {
    expect(reported(5_000, { saved: SAVED, reason: "retries-used-up" })).toEqual({});
  });
});
