import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import { newServiceId } from "@unacked/contracts";
import { loadSettings, SettingsError, tlsFilesOf } from "@unacked/settings";
import type { Tracing } from "@unacked/tracing";
import { errorText } from "./error-text.ts";
import { installIsolation } from "./isolation.ts";
import type { ServiceIdentity } from "./keeper/identity.ts";
import { SlotHandlers } from "./keeper/slots/slot-handlers.ts";
import { type SlotSettings, SlotsNotLoadedError } from "./keeper/slots/slot-pool.ts";
import { slotCountOf, slotSettingsOf } from "./keeper/slots/slot-settings.ts";
import { LocalHandlers } from "./local-handlers.ts";
import { createLog, type Log } from "./log.ts";
import { machineCapacity } from "./machine/capacity.ts";
import { freeMemoryBytes } from "./machine/memory.ts";
import { RunCost } from "./machine/run-cost.ts";
import { autoWorkerCount } from "./machine/worker-count.ts";
import { permissionsOf } from "./permissions.ts";
import { HealthServer } from "./service/health-server.ts";
import { ObserverService, type ServiceParts } from "./service/observer-service.ts";
import { serviceTracing } from "./service-tracing.ts";
import { ServiceSettings } from "./settings.ts";
import { brokenFileText } from "./slot/load-failure.ts";
import { LoadObserversError, loadObservers } from "./slot/load-observers.ts";

/** What is wrong is wrong again after a restart: somebody has to change something. */
const EXIT_CANNOT_START = 2;
/** For the last spans, within the time that draining may take if there is any left of it. */
const MAX_FLUSH_MS = 2_000;
const MIN_FLUSH_MS = 200;
const SLOT_PROGRAM = fileURLToPath(new URL(`./slot/main${extname(import.meta.url)}`, import.meta.url));

async function main(): Promise<void> {
  const settings = loadSettings(ServiceSettings, { env: process.env, file: process.env.CONFIG_FILE });
  const capacity = machineCapacity();
  const serviceName = settings.SERVICE_NAME ?? hostname();
  const stateDir = settings.STATE_DIR ?? process.env.STATE_DIRECTORY;
  const cost = settings.WORKER_COUNT === "auto" ? new RunCost(stateDir, serviceName) : undefined;
  // What this process has already is for the service itself.
  const freeBytes = freeMemoryBytes() + process.memoryUsage.rss();
  const free = { ...capacity, memoryBytes: Math.min(capacity.memoryBytes, freeBytes) };
  const identity: ServiceIdentity = {
    serviceId: newServiceId(),
    serviceName,
    pool: settings.POOL,
    workerCount:
      cost === undefined
        ? Number(settings.WORKER_COUNT)
        : autoWorkerCount(free, slotCountOf(settings, capacity), cost.bytes),
  };
  const log = createLog(settings.LOG_LEVEL, { service: identity.serviceName, serviceId: identity.serviceId });
  const version = ownVersion();
  const tracing = await serviceTracing({ ...identity, version }, log);
  const { serviceId } = identity;
  const handlers = await handlersOf(settings, { serviceId, serviceName, pool: identity.pool, version }, log);
  const { types, tasks, unannounced, notOffered, broken } = handlers.catalogue;
  const { pool, workerCount } = identity;
  log.info(
    { event: "starting", pool, workerCount, types: [...types, ...tasks].map(({ type }) => type), pid: process.pid },
    "observer-service starts",
  );
  for (const { type, reason } of unannounced)
    log.warn({ event: "no-json-schema", type, reason }, "the params of a type cannot be announced");
  for (const { file, problem } of notOffered) log.info({ event: "type-not-offered", file }, `not offered here: ${problem}`);
  for (const file of broken)
    log.error(
      { event: "file-not-loaded", ...file, excerpt: undefined },
      `only its types are missing here: ${brokenFileText(file)}`,
    );

  const service = new ObserverService({
    identity,
    handlers,
    version,
    broker: { url: settings.AMQP_URL, tls: tlsFilesOf("AMQP", settings), heartbeatS: settings.HEARTBEAT_S },
    queueType: settings.WORK_QUEUE_TYPE,
    declaresTopology: settings.DECLARE_TOPOLOGY,
    stopTimeoutMs: settings.STOP_TIMEOUT_MS,
    cost,
    taskWorkers: settings.TASK_WORKERS,
    log,
    tracing,
    exit: (code) => process.exit(code),
  });
  installIsolation((error) => void service.fail(error));
  const health = new HealthServer(() => service.health, service.metrics, log);
  drainOnSignals({ service, health, tracing, log, stopTimeoutMs: settings.STOP_TIMEOUT_MS });
  await health.listen(settings.HOST, settings.PORT);
  service.start();
}

async function handlersOf(
  settings: ServiceSettings,
  service: SlotSettings["service"],
  log: Log,
): Promise<ServiceParts["handlers"]> {
  const slots = slotSettingsOf(settings, SLOT_PROGRAM, service, process.env);
  if (slots === undefined) return new LocalHandlers(await loadObservers(settings.OBSERVERS_DIR, permissionsOf(settings)));
  const handlers = new SlotHandlers(slots, log);
  await handlers.open();
  return handlers;
}

interface Ending {
  service: ObserverService;
  health: HealthServer;
  tracing: Tracing | undefined;
  log: Log;
  stopTimeoutMs: number;
}

function drainOnSignals({ service, health, tracing, log, stopTimeoutMs }: Ending): void {
  let signals = 0;
  const onSignal = (signal: NodeJS.Signals): void => {
    signals += 1;
    if (signals > 1) {
      log.warn({ event: "hurried", signal }, "a second signal: ending without waiting");
      process.exit(1);
    }
    const endMs = performance.now() + stopTimeoutMs;
    service.end(signal).then(
      async () => {
        health.close();
        await tracing?.close(Math.max(MIN_FLUSH_MS, Math.min(MAX_FLUSH_MS, endMs - performance.now())));
        log.info({ event: "drained" }, "drained");
        process.exit(0);
      },
      (error: unknown) => service.fail(error),
    );
  };
  process.on("SIGTERM", onSignal);
  process.on("SIGINT", onSignal);
}

function ownVersion(): string {
  const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as { version: string };
  return version;
}

main().catch((error: unknown) => {
  const log = createLog("info");
  const known =
    error instanceof SettingsError || error instanceof LoadObserversError || error instanceof SlotsNotLoadedError;
  const fields = known ? { code: error.code } : { err: error };
  log.fatal({ event: "cannot-start", ...fields }, `observer-service cannot start: ${errorText(error).message}`);
  process.exit(EXIT_CANNOT_START);
});
