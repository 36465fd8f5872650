import { resolve } from "node:path";
import type { Capacity } from "../../../machine/capacity.ts";
import { permissionsOf } from "../../../settings/permissions.ts";
import { SETTING_NAMES, type ServiceSettings } from "../../../settings/settings.ts";
import { autoSlotMemoryBytes, OF_THE_KEEPER } from "../slot-memory.ts";
import type { SlotSettings } from "./slot-supply.ts";

const MIB = 2 ** 20;
/** The least memory of a slot, so that it has room for observers, and not only for itself. */
const OF_A_SLOT = 128 * MIB;
const AT_LEAST = 2;

/** `SLOTS=auto`: one for each usable core, as far as the memory goes, and at least two. */
export function autoSlotCount({ cores, memoryBytes }: Capacity): number {
  const byMemory = Math.floor((memoryBytes - OF_THE_KEEPER) / OF_A_SLOT);
  return Math.max(AT_LEAST, Math.min(Math.floor(cores), byMemory));
}

/** How many slots observers share. 0 means none: they run in the service's process. */
export const slotCountOf = ({ SLOTS }: Pick<ServiceSettings, "SLOTS">, capacity: Capacity): number =>
  SLOTS === "auto" ? autoSlotCount(capacity) : SLOTS;

/** Slots for suspects and guilty ones, and the spare. */
const MORE_SLOTS = 8;

interface SlotSurroundings {
  /** The file that a slot runs. */
  readonly program: string;
  readonly service: SlotSettings["service"];
  /** The service's part of the machine. */
  readonly capacity: Capacity;
  readonly env: NodeJS.ProcessEnv;
}

/** Undefined means that there are no slots, and handlers run in this process. */
export function slotSettingsOf(
  settings: ServiceSettings,
  { program, service, capacity, env }: SlotSurroundings,
): SlotSettings | undefined {
  const count = slotCountOf(settings, capacity);
  if (count === 0) return undefined;
  const memoryBytes =
    settings.SLOT_MEMORY_MB === "auto" ? autoSlotMemoryBytes(capacity, count) : settings.SLOT_MEMORY_MB * 2 ** 20;
  const nodeOptions = settings.SLOT_NODE_OPTIONS ?? env["NODE_OPTIONS"] ?? "";
  return {
    count,
    max: Math.max(settings.MAX_SLOTS ?? 0, settings.MAX_SLOTS === undefined ? count + MORE_SLOTS : count + 1),
    memoryBytes,
    args: [program],
    // If it were given as an argument, it would win over the author's own.
    isHeapLimited: !/max[-_]old[-_]space[-_]size/.test(nodeOptions),
    dir: resolve(settings.OBSERVERS_DIR),
    permissions: permissionsOf(settings),
    logLevel: settings.LOG_LEVEL,
    stopTimeoutMs: settings.STOP_TIMEOUT_MS,
    saveEveryMs: settings.CHECKPOINT_EVERY_MS,
    stuckMs: settings.STUCK_MS,
    service,
    env: slotEnvironment(env, settings),
  };
}

/**
 * This process's environment without its own settings, so that authors' code gets no address and no secret of the broker. What
 * that may need stays: the service's name, how long a handler may take to settle, and `UNACKED_SLOT`, which says that this
 * process is a slot.
 */
function slotEnvironment(
  env: NodeJS.ProcessEnv,
  { STOP_TIMEOUT_MS, SLOT_NODE_OPTIONS }: ServiceSettings,
): NodeJS.ProcessEnv {
  const own = new Set([...SETTING_NAMES.flatMap((name) => [name, `${name}_FILE`]), "CONFIG_FILE"]);
  own.delete("SERVICE_NAME");
  const kept = Object.fromEntries(Object.entries(env).filter(([name]) => !own.has(name)));
  return {
    ...kept,
    ...{ UNACKED_SLOT: "1", STOP_TIMEOUT_MS: String(STOP_TIMEOUT_MS) },
    ...(SLOT_NODE_OPTIONS !== undefined && { NODE_OPTIONS: SLOT_NODE_OPTIONS }),
  };
}
