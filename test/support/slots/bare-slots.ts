import { join } from "node:path";
import type { SlotSettings } from "../../../services/observer-service/src/keeper/slots/supply/slot-supply.ts";
import { ROOT } from "../processes/processes.ts";

/** Slots that load what `folder.json` in `dir` says, and run nothing: real processes, started within some tens of milliseconds. */
export const bareSlots = (given: Pick<SlotSettings, "dir" | "count" | "max"> & Partial<SlotSettings>): SlotSettings => ({
  ...{ memoryBytes: 2 ** 40, stuckMs: 0, stopTimeoutMs: 60_000, saveEveryMs: 1_000, logLevel: "info" },
  args: [join(ROOT, "test/support/slots/bare-slot.mjs")],
  env: process.env,
  permissions: {} as never,
  service: { serviceId: "s", serviceName: "s", pool: "default", version: "0" },
  ...given,
});
