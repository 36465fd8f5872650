import { DEFAULT_RETRY, newObserverId, newRunId } from "@unacked/contracts";
import { expect, test, vi } from "vitest";
import { createLog } from "../../../services/observer-service/src/log.ts";
import { eventually } from "../../support/eventually.ts";
import { openBareHandlers } from "../../support/slots/bare-folder.ts";

test("Nobody begins in a slot that has said that it ends itself", async () => {
  const log = createLog("silent");
  const failed = vi.fn();
  log.error = ({ event }: { event: string }) => failed(event);
  const handlers = await openBareHandlers(["unowned", "any"], { count: 1, max: 9 }, log);
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
