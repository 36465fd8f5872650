import { resolve } from "node:path";
import type { Capacity } from "../../../machine/capacity.ts";
import { permissionsOf } from "../../../settings/permissions.ts";
import { SETTING_NAMES, type ServiceSettings } from "../../../settings/settings.ts";
import { autoSlotMemoryBytes, OF_THE_KEEPER } from "../slot-memory.ts";
import type { SlotSettings } from "./slot-supply.ts";

const MIB = 2 ** 20;
/** So that each has room for observers, and not for itself alone. */
const OF_A_SLOT = 128 * MIB;
const AT_LEAST = 2;

/** `SLOTS=auto`: one a core that may be used, as far as the memory goes, and at least two. */
export function autoSlotCount({ cores, memoryBytes }: Capacity): number {
  const byMemory = Math.floor((memoryBytes - OF_THE_KEEPER) / OF_A_SLOT);
  return Math.max(AT_LEAST, Math.min(Math.floor(cores), byMemory));
}

/** How many slots observers share; 0: none, they run in the service's process. */
export const slotCountOf = ({ SLOTS }: Pick<ServiceSettings, "SLOTS">, capacity: Capacity): number =>
  SLOTS === "auto" ? autoSlotCount(capacity) : SLOTS;

/** For suspects and guilty ones, and the spare. */
const MORE_SLOTS = 8;

interface SlotSurroundings {
  /** The file that a slot runs. */
  readonly program: string;
  readonly service: SlotSettings["service"];
  /** What its service has of the machine. */
  readonly capacity: Capacity;
  readonly env: NodeJS.ProcessEnv;
}

/** Undefined: there are none, handlers run in this process. */
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
    // Given as an argument it would win over theirs.
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
 * This process's, less its own settings: no address and no secret of the broker is handed to authors' code. What they may like
 * to know stays: the service's name, how long a handler may take to settle, and by `UNACKED_SLOT` that this process is a slot.
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
