import { hostname } from "node:os";
import { newServiceId } from "@unacked/contracts";
import {
  EXIT_CANNOT_START,
  isAnswered,
  LISTED_BY_HELP,
  listenFlaw,
  loadSettings,
  ownVersion,
  type ProgramWords,
  SettingsError,
} from "@unacked/settings";
import type { Tracing } from "@unacked/tracing";
import { errorText } from "./error-text.ts";
import { installIsolation } from "./isolation.ts";
import type { ServiceIdentity } from "./keeper/identity.ts";
import { slotCountOf } from "./keeper/slots/supply/slot-settings.ts";
import { SlotsNotLoadedError } from "./keeper/slots/supply/slot-supply.ts";
import { createLog, type Log } from "./log.ts";
import { type Capacity, machineCapacity } from "./machine/capacity.ts";
import { freeMemoryBytes } from "./machine/memory.ts";
import { RunCost } from "./machine/run-cost.ts";
import { autoWorkerCount } from "./machine/worker-count.ts";
import { openService } from "./open-service.ts";
import { FailTogether } from "./service/fail-together.ts";
import { HealthServer } from "./service/health-server.ts";
import type { ObserverService } from "./service/observer-service.ts";
import { Scrape } from "./service/scrape.ts";
import { serviceTracing } from "./service-tracing.ts";
import { type ServedPool, servedPools } from "./settings/served-pools.ts";
import { ServiceSettings } from "./settings/settings.ts";
import { LoadObserversError } from "./slot/load-observers.ts";

/** The time for the last spans, within the time for draining if any of it is left. */
const MAX_FLUSH_MS = 2_000;
const MIN_FLUSH_MS = 200;

const version = ownVersion(import.meta.url);

const PROGRAM: ProgramWords = {
  program: "unacked-service",
  does: "Runs observers and tasks of the files in OBSERVERS_DIR.",
  settings: ServiceSettings,
  version,
};

async function main(): Promise<void> {
  if (isAnswered(process.argv.slice(2), PROGRAM)) return;
  const reloads = reloadOnSignal();
  const ends = endOnSignal();
  const settings = loadSettings(ServiceSettings, { env: process.env, file: process.env.CONFIG_FILE });
  const serviceName = settings.SERVICE_NAME ?? hostname();
  const pools = servedPools(settings.POOL, serviceName);
  const capacity = shareOf(machineCapacity(), pools.length);
  const stateDir = settings.STATE_DIR ?? process.env.STATE_DIRECTORY;
  const planned = pools.map((served) => {
    const isAuto = served.workers === undefined && settings.WORKER_COUNT === "auto";
    const cost = isAuto ? new RunCost(stateDir, served.serviceName) : undefined;
    const identity = identityOf(
      served,
      cost === undefined ? Number(settings.WORKER_COUNT) : autoWorkers(settings, capacity, cost),
    );
    return {
      identity,
      cost,
      log: createLog(settings.LOG_LEVEL, { service: identity.serviceName, serviceId: identity.serviceId }),
    };
  });
  const [{ identity: first, log }] = planned as [(typeof planned)[number]]; // a list of pools is never empty
  const pool = pools.map((one) => one.pool).join(",");
  const tracing = await serviceTracing({ serviceId: first.serviceId, serviceName, pool, version }, log);
  const failing = new FailTogether();
  const services = await Promise.all(
    planned.map(async (one) => {
      const service = await openService({ ...one, settings, version, capacity, tracing, failing });
      return { pool: one.identity.pool, service, metrics: service.metrics };
    }),
  );
  const all = services.map(({ service }) => service);
  failing.all = all;
  installIsolation(failing.onFail);
  const views = () => services.map(({ pool: of, service }) => ({ pool: of, view: service.health }));
  const health = new HealthServer(views, new Scrape({ version, serviceName, services }), log);
  ends.by(drainOnce({ services: all, failing, health, tracing, log, stopTimeoutMs: settings.STOP_TIMEOUT_MS }));
  await health.listen(settings.HOST, settings.PORT);
  for (const service of all) service.start();
  reloads.of(all, log);
}

/** SIGHUP loads the folder again. A signal before there is a service is remembered, as the folder may have been read by then. */
function reloadOnSignal(): { of(services: readonly ObserverService[], log: Log): void } {
  let onSignal = (): void => {
    isWanted = true;
  };
  let isWanted = false;
  process.on("SIGHUP", () => onSignal());
  return {
    of(services, log) {
      onSignal = () => {
        log.info({ event: "reloading", signal: "SIGHUP" }, "the folder is loaded again");
        for (const service of services) void service.reload();
      };
      if (isWanted) onSignal();
    },
  };
}

type OnSignal = (signal: NodeJS.Signals) => void;

/**
 * SIGTERM and SIGINT end this process. Before there is a service nothing has been taken, and slots go with it, but a handler is needed all
 * the same: in a container this is process 1, for which the kernel ignores a signal that nobody handles (pid_namespaces(7)), so it would
 * start, and take work, until it is killed.
 */
function endOnSignal(): { by(act: OnSignal): void } {
  let onSignal: OnSignal = (signal) => {
    createLog("info").info({ event: "ended-unstarted", signal }, "observer-service ends before it has started");
    process.exit(0);
  };
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => onSignal(signal));
  return {
    by(act) {
      onSignal = act;
    },
  };
}

const identityOf = ({ serviceName, pool, workers }: ServedPool, workerCount: number): ServiceIdentity => ({
  serviceId: newServiceId(),
  serviceName,
  pool,
  workerCount: workers ?? workerCount,
});

/** Divides the machine into equal parts for the services of this process. */
const shareOf = ({ cores, memoryBytes }: Capacity, parts: number): Capacity => ({
  cores: cores / parts,
  memoryBytes: memoryBytes / parts,
});

function autoWorkers(settings: ServiceSettings, capacity: Capacity, cost: RunCost): number {
  // The memory that this process already has is for the service itself.
  const freeBytes = freeMemoryBytes() + process.memoryUsage.rss();
  const free = { ...capacity, memoryBytes: Math.min(capacity.memoryBytes, freeBytes) };
  return autoWorkerCount(free, slotCountOf(settings, capacity), cost.bytes);
}

interface Ending {
  services: readonly ObserverService[];
  failing: FailTogether;
  health: HealthServer;
  tracing: Tracing | undefined;
  log: Log;
  stopTimeoutMs: number;
}

/** A second signal ends it without waiting. */
function drainOnce({ services, failing, health, tracing, log, stopTimeoutMs }: Ending): OnSignal {
  let signals = 0;
  return (signal) => {
    signals += 1;
    if (signals > 1) {
      log.warn({ event: "hurried", signal }, "second signal: ending without waiting");
      process.exit(1);
    }
    const endMs = performance.now() + stopTimeoutMs;
    Promise.all(services.map((service) => service.end(signal))).then(
      async () => {
        if (failing.isFailing) return; // nothing has to drain, so the signal ends the process by itself
        health.close();
        await tracing?.close(Math.max(MIN_FLUSH_MS, Math.min(MAX_FLUSH_MS, endMs - performance.now())));
        log.info({ event: "drained" }, "drained");
        process.exit(0);
      },
      (error: unknown) => services[0]?.fail(error),
    );
  };
}

/** For errors that somebody has to correct: what would be right. */
function whyNot(error: unknown): { code: string; remedy: string } | { err: unknown } {
  if (error instanceof SettingsError) return { code: error.code, remedy: LISTED_BY_HELP };
  if (error instanceof LoadObserversError || error instanceof SlotsNotLoadedError)
    return {
      code: error.code,
      remedy:
        "OBSERVERS_DIR must have a file that loads and whose default export is defineObserver({ … }) or defineTask({ … }).",
    };
  return { err: error };
}

main().catch((error: unknown) => {
  const log = createLog("info");
  log.fatal(
    { event: "cannot-start", ...whyNot(error) },
    `observer-service cannot start: ${listenFlaw(error) ?? errorText(error).message}`,
  );
  process.exit(EXIT_CANNOT_START);
});
