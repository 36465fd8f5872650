import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { newServiceId } from "@unacked/contracts";
import { loadSettings, SettingsError, tlsFilesOf } from "@unacked/settings";
import { loadTracing, type Tracing } from "@unacked/tracing";
import { machineCapacity } from "./capacity.ts";
import { errorText } from "./error-text.ts";
import { HealthServer } from "./health.ts";
import type { ServiceIdentity } from "./identity.ts";
import { installIsolation } from "./isolation.ts";
import { LoadObserversError, loadObservers } from "./load-observers.ts";
import { createLog, type Log } from "./log.ts";
import { permissionsOf } from "./permissions.ts";
import { ObserverService } from "./service.ts";
import { ServiceSettings } from "./settings.ts";
import { autoWorkerCount } from "./worker-count.ts";

/** What is wrong is wrong again after a restart: somebody has to change something. */
const EXIT_CANNOT_START = 2;
/** For the last spans, within the time that draining may take if there is any left of it. */
const MAX_FLUSH_MS = 2_000;
const MIN_FLUSH_MS = 200;

async function main(): Promise<void> {
  const settings = loadSettings(ServiceSettings, { env: process.env, file: process.env.CONFIG_FILE });
  const identity: ServiceIdentity = {
    serviceId: newServiceId(),
    serviceName: settings.SERVICE_NAME ?? hostname(),
    pool: settings.POOL,
    workerCount: settings.WORKER_COUNT === "auto" ? autoWorkerCount(machineCapacity()) : settings.WORKER_COUNT,
  };
  const log = createLog(settings.LOG_LEVEL, { service: identity.serviceName, serviceId: identity.serviceId });
  const version = ownVersion();
  const tracing = await tracingOf(identity, version, log);
  const { types, notOffered } = await loadObservers(settings.OBSERVERS_DIR, permissionsOf(settings));
  const { pool, workerCount } = identity;
  log.info({ event: "starting", pool, workerCount, types: [...types.keys()], pid: process.pid }, "observer-service starts");
  for (const { file, problem } of notOffered) log.info({ event: "type-not-offered", file }, `not offered here: ${problem}`);

  const service = new ObserverService({
    identity,
    types,
    version,
    broker: { url: settings.AMQP_URL, tls: tlsFilesOf("AMQP", settings), heartbeatS: settings.HEARTBEAT_S },
    queueType: settings.WORK_QUEUE_TYPE,
    declaresTopology: settings.DECLARE_TOPOLOGY,
    stopTimeoutMs: settings.STOP_TIMEOUT_MS,
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

/** Before the observers are loaded: they may bring instrumentation of their own. */
function tracingOf(identity: ServiceIdentity, version: string, log: Log): Promise<Tracing | undefined> {
  const { serviceId, serviceName, pool } = identity;
  return loadTracing({
    program: "observer-service",
    version,
    instanceId: serviceId,
    attributes: { "unacked.service.name": serviceName, "unacked.pool": pool },
    hostsOthers: true,
    log,
  });
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
  const known = error instanceof SettingsError || error instanceof LoadObserversError;
  const fields = known ? { code: error.code } : { err: error };
  log.fatal({ event: "cannot-start", ...fields }, `observer-service cannot start: ${errorText(error).message}`);
  process.exit(EXIT_CANNOT_START);
});
