import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DEFAULT_RETRY, newMessageId, newObserverId } from "@unacked/contracts";
import { expect, test } from "vitest";
import { Runner } from "../../services/observer-service/src/keeper/runs/runner.ts";
import { eventually } from "../support/eventually.ts";
import { temporaryFolder } from "../support/servers/servers.ts";
import { openSlots } from "../support/slots/real-slots.ts";

test("an observer that prints more than is read goes on meanwhile: its slot does not wait for it", async () => {
  const { handlers, ...parts } = await openSlots("poison");
  const runner = new Runner({
    ...{ ...parts, handlers, tailBytes: 8_192 },
    events: { tell: () => undefined },
    errors: { report: () => Promise.resolve() },
    holds: () => true,
    output: () => Promise.resolve(),
  });
  const file = join(temporaryFolder("prints"), "acts");
  const acts = () => (existsSync(file) ? readFileSync(file, "utf8").split("\n").length : 0);
  const ids = { observerId: newObserverId(), messageId: newMessageId(), revision: 1, name: "printer", pool: "default" };
  const params = { how: "short-prints", afterMs: 0, file };
  const start = { ...ids, type: "poison", params, labels: {}, retry: DEFAULT_RETRY, createdAt: new Date().toISOString() };
  runner.accept({ start, delivery: { generation: 1, deliveryCount: 0, settle: () => true, queue: "q" } as never });
  // What it prints in its first turn is read for half a minute.
  await eventually(() => expect(acts()).toBeGreaterThan(100), { timeoutMs: 15_000 });
});
