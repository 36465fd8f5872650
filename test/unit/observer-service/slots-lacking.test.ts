import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DEFAULT_RETRY, newObserverId, newRunId } from "@unacked/contracts";
import { afterEach, beforeEach, expect, test } from "vitest";
import { SlotHandlers } from "../../../services/observer-service/src/keeper/slots/handlers/slot-handlers.ts";
import { createLog } from "../../../services/observer-service/src/log.ts";
import { eventually } from "../../support/eventually.ts";
import { saveFolder } from "../../support/slots/bare-folder.ts";
import { bareSlots } from "../../support/slots/bare-slots.ts";

/* Types that slots which start now do not have: their files have got a mistake since the folder was loaded for all. */

const log = createLog("silent");
let dir: string;
let handlers: SlotHandlers;
let placed: string[];

const write = (...types: string[]) => saveFolder(dir, types, { isolation: [{ type: "own", runsPerSlot: 1 }] });
beforeEach(async () => {
  placed = [];
  dir = mkdtempSync(join(tmpdir(), "unacked-slots-"));
  write("own", "any");
  handlers = new SlotHandlers(bareSlots({ dir, count: 1, max: 8 }), log);
  await handlers.open();
  await eventually(() => expect(purposes()).toEqual(["shared", "spare"]));
});
afterEach(async () => {
  await handlers.close(0);
  rmSync(dir, { recursive: true, force: true });
});

const purposes = () => handlers.slots().map(({ purpose }) => purpose);
function runOf(type: string) {
  const about = { observerId: newObserverId(), name: type, type, labels: {}, params: {}, retry: DEFAULT_RETRY };
  return { start: about, runId: newRunId(), log, taskAttempt: 1 } as never;
}
const end = (...wanted: string[]): void => {
  for (const { pid, purpose } of handlers.slots()) if (wanted.includes(purpose)) process.kill(pid, "SIGKILL");
};
const host = { onPlaced: ({ start: { type } }: { start: { type: string } }) => void placed.push(type) };

test("A task whose type a new slot would not have is told that it waits for none, once the last that has it is taken", async () => {
  const [first, other] = [runOf("own"), runOf("own")];
  expect(handlers.noSlotFor(first)).toBeUndefined();
  handlers.start(host as never, first);
  await eventually(() => expect(placed).toEqual(["own"]));
  await eventually(() => expect(purposes()).toContain("spare"));
  write("any");
  end("spare");
  handlers.start(host as never, other);
  await eventually(() => expect(handlers.noSlotFor(other)).toContain("no slot has its type"));
  await eventually(() => expect(handlers.noSlotFor(runOf("any"))).toBeUndefined());
  expect([handlers.noRoomFor(other), placed]).toEqual([undefined, ["own"]]);
});

test("So is one of a type that lives among others, when the slots that had it have gone", async () => {
  write("own");
  end("shared", "spare");
  await eventually(() => expect(handlers.noSlotFor(runOf("any"))).toContain("no slot has its type"));
  await eventually(() => expect(handlers.noSlotFor(runOf("own"))).toBeUndefined());
  expect(handlers.noRoomFor(runOf("any"))).toBeUndefined();
});
