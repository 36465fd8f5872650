import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { onTestFinished } from "vitest";
import { SlotHandlers } from "../../../services/observer-service/src/keeper/slots/handlers/slot-handlers.ts";
import type { SlotSettings } from "../../../services/observer-service/src/keeper/slots/supply/slot-supply.ts";
import { createLog, type Log } from "../../../services/observer-service/src/log.ts";
import { ROOT } from "../processes/processes.ts";

export const STOP_TIMEOUT_MS = 60_000;

const { version } = JSON.parse(readFileSync(join(ROOT, "services/observer-service/package.json"), "utf8")) as {
  version: string;
};
export const OWN_SERVICE = { serviceId: "s", serviceName: "s", pool: "default", version };

/** Real slots that have loaded this folder, of fixtures if it is not absolute, for a keeper's runner without a broker: what both are made with. */
export async function openSlots(
  folder: string,
  count = 1,
  stopTimeoutMs = STOP_TIMEOUT_MS,
  more: Partial<SlotSettings> = {},
  log: Log = createLog("silent"),
) {
  const program = join(ROOT, "services/observer-service/dist/slot/main.js");
  const handlers = new SlotHandlers(
    {
      ...{ count, max: 9, memoryBytes: 2 ** 40, dir: resolve(ROOT, "test/fixtures", folder), stuckMs: 0 },
      ...{ stopTimeoutMs, saveEveryMs: 1_000, args: ["--import", "tsx", program], logLevel: "info" },
      env: { ...process.env, UNACKED_SLOT: "1" },
      permissions: {} as never,
      service: OWN_SERVICE,
      ...more,
    },
    log,
  );
  onTestFinished(() => handlers.close(0));
  await handlers.open();
  return { handlers, log, stopTimeoutMs };
}
