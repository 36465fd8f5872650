import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DEFAULT_RETRY, newObserverId, newRunId } from "@unacked/contracts";
import { expect, onTestFinished, test, vi } from "vitest";
import { SlotHandlers } from "../../../services/observer-service/src/keeper/slots/handlers/slot-handlers.ts";
import { createLog } from "../../../services/observer-service/src/log.ts";
import { eventually } from "../../support/eventually.ts";
import { bareSlots } from "../../support/slots/bare-slots.ts";

test("Nobody begins in a slot that has said that it ends itself", async () => {
  const dir = mkdtempSync(join(tmpdir(), "unacked-slots-"));
  const nothing = { types: [], unannounced: [], unknownFields: [], notOffered: [], tasks: [], broken: [], isolation: [] };
  const code = ["unowned", "any"].map((type) => ({ type, file: `${type}.ts`, print: "1" }));
  writeFileSync(join(dir, "folder.json"), JSON.stringify({ ...nothing, code }));
  const log = createLog("silent");
  const failed = vi.fn();
  log.error = ({ event }: { event: string }) => failed(event);
  const handlers = new SlotHandlers(bareSlots({ dir, count: 1, max: 9 }), log);
  onTestFinished(async () => {
    await handlers.close(0);
    rmSync(dir, { recursive: true, force: true });
  });
  await handlers.open();
  const placed: string[] = [];
  const start = (type: string): void => {
    const about = { observerId: newObserverId(), name: type, type, labels: {}, params: {}, retry: DEFAULT_RETRY };
    handlers.start({ onPlaced: () => void placed.push(type) } as never, { start: about, runId: newRunId(), log } as never);
  };
  const [first] = handlers.slots();
  start("unowned");
  await eventually(() => expect(failed).toHaveBeenCalledWith("slot-failed"));
  start("any");
  await eventually(() => expect(placed).toEqual(["unowned", "any"]));
  expect(handlers.slots().find(({ pid }) => pid === first?.pid)?.runs).toBe(1);
});
