import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DEFAULT_RETRY, newObserverId, newRunId } from "@unacked/contracts";
import { afterEach, beforeEach, expect, test } from "vitest";
import { SlotHandlers } from "../../../services/observer-service/src/keeper/slots/handlers/slot-handlers.ts";
import { createLog } from "../../../services/observer-service/src/log.ts";
import { eventually } from "../../support/eventually.ts";
import { saveFolder } from "../../support/slots/bare-folder.ts";
import { bareSlots } from "../../support/slots/bare-slots.ts";

/* How far V8 lets the heap of a slot grow: beyond what its observers may take, or it ends them before that is looked at. */

const log = createLog("silent");
const MIB = 2 ** 20;
let dir: string;
let handlers: SlotHandlers;
let placed: string[];

beforeEach(() => {
  placed = [];
  dir = mkdtempSync(join(tmpdir(), "unacked-slots-"));
  const isolation = [
    { type: "large", runsPerSlot: 1, memoryMb: 512 },
    { type: "small", runsPerSlot: 1, memoryMb: 64 },
    { type: "deaf", runsPerSlot: 1, memoryMb: 512 },
  ];
  saveFolder(dir, ["large", "small", "deaf", "any"], { isolation });
});
afterEach(async () => {
  await handlers.close(0);
  rmSync(dir, { recursive: true, force: true });
});

async function open(max: number): Promise<void> {
  handlers = new SlotHandlers(
    bareSlots({ dir, count: 1, max, memoryBytes: 100 * MIB, isHeapLimited: true, stopTimeoutMs: 100 }),
    log,
  );
  await handlers.open();
  await eventually(() => expect(purposes()).toEqual(["shared", "spare"]));
}
const purposes = () => handlers.slots().map(({ purpose }) => purpose);

function runOf(type: string, observerId = newObserverId(), resetAfterMs = DEFAULT_RETRY.resetAfterMs) {
  const about = { observerId, name: type, type, labels: {}, params: {}, retry: { ...DEFAULT_RETRY, resetAfterMs } };
  return { start: about, runId: newRunId(), log } as never;
}

function start(type: string, run = runOf(type), onInterrupted = () => undefined as void) {
  expect(handlers.noRoomFor(run)).toBeUndefined();
  const host = { onPlaced: () => void placed.push(type), onInterrupted, onStuck: () => undefined };
  return handlers.start(host as never, run);
}
/** As each was started with, in MiB. */
const heapsOf = (wanted: string) =>
  handlers
    .slots()
    .filter(({ purpose }) => purpose === wanted)
    .map(({ pid }) => /--max-old-space-size=(\d+)/.exec(readFileSync(`/proc/${pid}/cmdline`, "latin1"))?.[1]);

test.each([
  [9, "beside the spare one"],
  [4, "in the place of the spare one"],
])("A type that may take more than all others gets a slot whose heap may grow that far: of %i slots, %s", async (max) => {
  await open(max);
  start("large");
  await eventually(() => expect(placed).toEqual(["large"]));
  expect(heapsOf("own")).toEqual(["768"]);
  await eventually(() => expect(heapsOf("spare")).toEqual(["150"]));
  expect(heapsOf("shared")).toEqual(["150"]);
});

test("A type that may take less is given the spare slot, which is warm", async () => {
  await open(9);
  const [, spare] = handlers.slots();
  start("small");
  await eventually(() => expect(placed).toEqual(["small"]));
  expect(handlers.slots().find(({ purpose }) => purpose === "own")?.pid).toBe(spare?.pid);
});

test("Who was kept alone, and has been well for so long, stays by itself as its type asks: nobody else comes there", async () => {
  await open(9);
  const run = runOf("large", newObserverId(), 100);
  handlers.keepAlone(run);
  start("large", run);
  await eventually(() => expect(purposes()).toContain("alone"));
  await eventually(() => expect(purposes()).not.toContain("alone"));
  for (const type of ["any", "any"]) start(type);
  expect(purposes().toSorted()).toEqual(["own", "shared", "spare"]);
  expect(handlers.slots().find(({ purpose }) => purpose === "own")?.runs).toBe(1);
  expect(heapsOf("own")).toEqual(["768"]);
});

test("Who is kept by itself as one that does not hear its abort may take what its type asks for there, too", async () => {
  await open(9);
  const observerId = newObserverId();
  const attempt = start("deaf", runOf("deaf", observerId), () => void start("deaf", runOf("deaf", observerId)));
  await eventually(() => expect(placed).toEqual(["deaf"]));
  attempt.abort({ kind: "uncaught", error: { name: "Error", message: "nobody caught this" } });
  await eventually(() => expect(placed).toEqual(["deaf", "deaf"]));
  expect(heapsOf("suspects")).toEqual(["768"]);
});
