import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { DEFAULT_RETRY, newObserverId, newRunId } from "@unacked/contracts";
import { afterEach, beforeEach, expect, test } from "vitest";
import { SlotHandlers } from "../../../services/observer-service/src/keeper/slots/handlers/slot-handlers.ts";
import { createLog } from "../../../services/observer-service/src/log.ts";
import type { Attempt } from "../../../services/observer-service/src/wire/attempt.ts";
import { eventually } from "../../support/eventually.ts";
import { ROOT } from "../../support/processes/processes.ts";
import { saveFolder } from "../../support/slots/bare-folder.ts";
import { bareSlots } from "../../support/slots/bare-slots.ts";

/* Who waits for a slot, and is stopped before it has one. */

const log = createLog("silent");
const OWN = Array.from({ length: 8 }, (_, i) => `own-${i}`);

let dir: string;
let handlers: SlotHandlers;
let settled: string[];
let placed: string[];

beforeEach(() => {
  [settled, placed] = [[], []];
  dir = mkdtempSync(join(tmpdir(), "unacked-slots-"));
  const isolation = OWN.map((type) => ({ type, runsPerSlot: 1 }));
  saveFolder(dir, [...OWN, "any", "crash", "new"], { isolation });
  handlers = new SlotHandlers(bareSlots({ dir, count: 1, max: 6 }), log);
});
afterEach(async () => {
  await handlers.close(0);
  rmSync(dir, { recursive: true, force: true });
});

const host = {
  onPlaced: (run: { start: { type: string } }) => void placed.push(run.start.type),
  onSettled: (run: { start: { type: string } }) => void settled.push(run.start.type),
};
function start(type: string) {
  const about = { observerId: newObserverId(), name: type, type, labels: {}, params: {}, retry: DEFAULT_RETRY };
  return handlers.start(host as never, { start: about, runId: newRunId(), log, taskAttempt: 1 } as never);
}

test("A slot of one type's own, whose run is stopped before it has loaded, is the spare again, or goes", async () => {
  await handlers.open();
  const slots = () => handlers.slots().map(({ purpose }) => purpose);
  for (const type of OWN.slice(1)) {
    await eventually(() => expect(slots()).toContain("spare"));
    start(type).abort({ kind: "stopped" });
    await eventually(() => expect(settled).toContain(type));
  }
  await eventually(() => expect(slots().toSorted()).toEqual(["shared", "spare"]));
  start(OWN[0] as string);
  await eventually(() => expect(placed).toEqual([OWN[0]]));
});

test("Who is told to end twice in one turn ends once, and does not begin any more", async () => {
  const opened = handlers.open(); // nothing has loaded yet: all wait
  const attempt = start("any");
  attempt.abort({ kind: "draining" });
  attempt.abort({ kind: "stopped" });
  await turn();
  await turn();
  expect(settled).toEqual(["any"]);
  await opened;
  start("any");
  await eventually(() => expect(placed).toEqual(["any"]));
});

test.each([
  [2, "when they had begun in it"],
  [0, "before it has loaded"],
])("A slot of suspects goes when nobody of them runs or waits any more: %i placed, %s", async (begun) => {
  await handlers.open();
  const purposes = () => handlers.slots().map(({ purpose }) => purpose);
  const attempts: Attempt[] = [];
  const begin = (run: unknown) =>
    void attempts.push(handlers.start({ ...host, onInterrupted: begin } as never, run as never));
  const runs = ["one", "other"].map((name) => ({
    start: { observerId: newObserverId(), name, type: "any", labels: {}, params: {}, retry: DEFAULT_RETRY },
    runId: newRunId(),
    log,
  }));
  for (const run of runs) begin(run);
  handlers.endForCertain(runs as never);
  placed = [];
  await eventually(() => expect(attempts).toHaveLength(4));
  await eventually(() => expect(placed.length).toBeGreaterThanOrEqual(begun));
  expect(purposes().filter((one) => one === "suspects")).toHaveLength(2);
  for (const attempt of attempts) attempt.abort({ kind: "stopped" });
  await eventually(() => expect(purposes().toSorted()).toEqual(["shared", "spare"]));
});

test.each([
  [{ count: 1, max: 6 }, OWN.length, "of types that ask for their own, and have all they may"],
  [{ count: 2, max: 3 }, 0, "that all share, and would have what there is"],
])("Who ends its slot is found beside others, and a new one begins meanwhile: %o, %i %s", async (limits, own) => {
  await handlers.close(0);
  handlers = new SlotHandlers(bareSlots({ dir, ...limits }), log);
  await handlers.open();
  const runOf = (type: string) => ({
    start: { observerId: newObserverId(), name: type, type, labels: {}, params: {}, retry: DEFAULT_RETRY },
    runId: newRunId(),
    log,
  });
  const begin = (run: unknown) => void handlers.start({ ...host, onInterrupted: begin } as never, run as never);
  for (const type of OWN.slice(0, own)) {
    const run = runOf(type);
    if (handlers.noRoomFor(run as never) !== undefined) break;
    begin(run);
    await eventually(() => expect(placed).toContain(type));
  }
  // Two in each: the slot of the one that ends it is halved once.
  for (const type of ["crash", "any", "any", "any"].slice(0, 2 * limits.count)) begin(runOf(type));
  await eventually(() => expect(handlers.suspects).toBeGreaterThan(0));
  begin(runOf("new"));
  await eventually(() => expect(placed).toContain("new"));
  await eventually(() => expect(settled).toEqual(["crash"]));
});

test("Where no slot can be started, as file descriptors have run out, the service lives, and one is when it can be", () => {
  const file = join(ROOT, "test/support/slots/without-descriptors.mts");
  const { status, stdout, stderr } = spawnSync("bash", ["-c", `ulimit -n 128; exec node --import tsx ${file}`], {
    encoding: "utf8",
    cwd: ROOT,
    timeout: 60_000,
  });
  expect(stderr).toBe("");
  expect(stdout).toContain('"event":"slot-not-started"');
  expect(stdout.match(/"event":"slot-not-started"/g)).toHaveLength(1);
  expect([status, stdout.trim().split("\n").at(-1)]).toEqual([0, "shared spare"]);
});
