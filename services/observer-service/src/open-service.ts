import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import { tlsFilesOf } from "@unacked/settings";
import type { Tracing } from "@unacked/tracing";
import { logCatalogue, logReload } from "./catalogue-log.ts";
import type { ServiceIdentity } from "./keeper/identity.ts";
import { SlotHandlers } from "./keeper/slots/handlers/slot-handlers.ts";
import { slotSettingsOf } from "./keeper/slots/supply/slot-settings.ts";
import { LocalHandlers } from "./local-handlers.ts";
import type { Log } from "./log.ts";
import type { Capacity } from "./machine/capacity.ts";
import type { RunCost } from "./machine/run-cost.ts";
import { ObserverService } from "./service/observer-service.ts";
import type { ServiceParts } from "./service/service-parts.ts";
import { permissionsOf } from "./settings/permissions.ts";
import type { ServiceSettings } from "./settings/settings.ts";
import { loadObservers } from "./slot/load-observers.ts";

const SLOT_PROGRAM = fileURLToPath(new URL(`./slot/main${extname(import.meta.url)}`, import.meta.url));

export interface OpenServiceParts {
  readonly settings: ServiceSettings;
  readonly identity: ServiceIdentity;
  readonly version: string;
  /** This service's part of the machine. */
  readonly capacity: Capacity;
  readonly cost: RunCost | undefined;
  readonly tracing: Tracing | undefined;
  readonly log: Log;
  readonly failing: Pick<ServiceParts, "onFail" | "onFailed">;
}

/** Opens the service of one pool, with slots of its own. It has loaded its observers, but not started. */
export async function openService(parts: OpenServiceParts): Promise<ObserverService> {
  const { settings, identity, version, cost, tracing, log } = parts;
  const handlers = await handlersOf(parts);
  tellCatalogue(handlers.catalogue, identity, log);
  return new ObserverService({
    identity,
    handlers,
    version,
    broker: { url: settings.AMQP_URL, tls: tlsFilesOf("AMQP", settings), heartbeatS: settings.HEARTBEAT_S },
    queueType: settings.WORK_QUEUE_TYPE,
    declaresTopology: settings.DECLARE_TOPOLOGY,
    stopTimeoutMs: settings.STOP_TIMEOUT_MS,
    updateTimeoutMs: settings.UPDATE_TIMEOUT_MS,
    saving: { everyMs: settings.CHECKPOINT_EVERY_MS, bytesPerS: settings.CHECKPOINT_BYTES_PER_S },
    cost,
    taskWorkers: settings.TASK_WORKERS,
    log,
    tracing,
    exit: (code) => process.exit(code),
    onReload: (reload) => logReload(reload, handlers.catalogue, log),
    ...parts.failing,
  });
}

async function handlersOf(parts: OpenServiceParts): Promise<ServiceParts["handlers"]> {
  const { settings, identity, version, capacity, log } = parts;
  const slots = slotSettingsOf(settings, {
    program: SLOT_PROGRAM,
    service: { serviceId: identity.serviceId, serviceName: identity.serviceName, pool: identity.pool, version },
    capacity,
    env: process.env,
  });
  if (slots === undefined) return new LocalHandlers(await loadObservers(settings.OBSERVERS_DIR, permissionsOf(settings)));
  const handlers = new SlotHandlers(slots, log);
  await handlers.open();
  return handlers;
}

function tellCatalogue(catalogue: ServiceParts["handlers"]["catalogue"], identity: ServiceIdentity, log: Log): void {
  const { types, tasks } = catalogue;
  const { pool, workerCount } = identity;
  log.info(
    { event: "starting", pool, workerCount, types: [...types, ...tasks].map(({ type }) => type), pid: process.pid },
    "observer-service starts",
  );
  logCatalogue(catalogue, log);
}
