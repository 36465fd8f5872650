import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { DEFAULT_RETRY, newObserverId, newRunId } from "@unacked/contracts";
import { afterEach, beforeEach, expect, test } from "vitest";
import { SlotHandlers } from "../../../services/observer-service/src/keeper/slots/handlers/slot-handlers.ts";
import { createLog } from "../../../services/observer-service/src/log.ts";
import { eventually } from "../../support/eventually.ts";
import { saveFolder } from "../../support/slots/bare-folder.ts";
import { bareSlots } from "../../support/slots/bare-slots.ts";

/* Who waits for a slot of their own, while new slots would be of no use to them: the folder is not what it was when it was loaded. */

const silent = createLog("silent");
/** Slots of the test before may still tell theirs. */
function countingLoads() {
  const counted = { loaded: 0 };
  const debug = ({ event }: { event: string }) => void (counted.loaded += event === "slot-loaded" ? 1 : 0);
  return { counted, log: Object.assign(Object.create(silent) as typeof silent, { debug }) };
}

let log: typeof silent;
let dir: string;
let handlers: SlotHandlers;
let placed: string[];
/** Process ids of all that were seen. */
let seen: Set<number>;
let look: NodeJS.Timeout;

beforeEach(async () => {
  [placed, seen] = [[], new Set()];
  const counting = countingLoads();
  log = counting.log;
  dir = mkdtempSync(join(tmpdir(), "unacked-slots-"));
  save("own", "any");
  handlers = new SlotHandlers(bareSlots({ dir, count: 1, max: 9 }), log);
  await handlers.open();
  await eventually(() => expect(counting.counted.loaded).toBe(2)); // with the spare one
  look = setInterval(() => {
    for (const { pid } of handlers.slots()) seen.add(pid);
  }, 5);
});
afterEach(async () => {
  clearInterval(look);
  await handlers.close(0);
  rmSync(dir, { recursive: true, force: true });
});

function save(...types: string[]): void {
  const isolation = types.includes("own") ? [{ type: "own", runsPerSlot: 1 }] : [];
  saveFolder(dir, types, { isolation });
}

function start(type: string) {
  const about = { observerId: newObserverId(), name: type, type, labels: {}, params: {}, retry: DEFAULT_RETRY };
  const host = { onPlaced: () => void placed.push(type), onSettled: () => undefined };
  return handlers.start(host as never, { start: about, runId: newRunId(), log } as never);
}

/** The first has the spare slot, the other waits. */
async function startTwo(): Promise<void> {
  start("own");
  start("own");
  await eventually(() => expect(placed).toEqual(["own"]));
}

test("Slots that end before they have loaded are started at a pace that slows down, also where somebody waits for one", async () => {
  rmSync(join(dir, "folder.json")); // a slot fails of that
  await startTwo();
  await sleep(2_500);
  expect(seen.size).toBeLessThan(10);
  save("own", "any");
  await eventually(() => expect(placed).toEqual(["own", "own"]));
});

test("Nor is one started for a type that is missing in the folder as it is, until that is loaded again with it", async () => {
  save("any");
  await startTwo();
  await sleep(1_500);
  expect(seen.size).toBeLessThan(6);
  start("any");
  await eventually(() => expect(placed).toEqual(["own", "any"]));
  save("own", "any");
  await handlers.reload();
  await eventually(() => expect(placed).toEqual(["own", "any", "own"]));
});
