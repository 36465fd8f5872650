import { existsSync } from "node:fs";
import { hostname } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { BrokerSettingsError } from "@unacked/broker";
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
import { loadTracing, type Tracing } from "@unacked/tracing";
import { v7 } from "uuid";
import { describeDatabaseError } from "./adapters/postgres/connection/database-error.ts";
import { UnusableDatabaseError } from "./adapters/postgres/connection/unusable-database.ts";
import { createLog } from "./log.ts";
import { ObserverManager } from "./observer-manager.ts";
import { ManagerSettings } from "./settings.ts";

/** For the last spans, at most. */
const FLUSH_LIMIT_MS = 2_000;

/** In the npm package it lies beside `bundle/`; else it is what `npm run build` makes of services/status-page. */
const PAGE_OF_PACKAGE = fileURLToPath(new URL("../page/", import.meta.url));
const PAGE_FOLDER = existsSync(PAGE_OF_PACKAGE)
  ? PAGE_OF_PACKAGE
  : fileURLToPath(new URL("../../status-page/dist/", import.meta.url));

const version = ownVersion(import.meta.url);

const PROGRAM: ProgramWords = {
  program: "unacked-manager",
  does: "Keeps the books of observers and tasks in PostgreSQL, and serves REST and the status page.",
  settings: ManagerSettings,
  version,
};

async function main(): Promise<void> {
  if (isAnswered(process.argv.slice(2), PROGRAM)) return;
  const settings = loadSettings(ManagerSettings, { env: process.env, file: process.env["CONFIG_FILE"] });
  const managerId = v7();
  const log = createLog(settings.LOG_LEVEL, { manager: managerId });
  log.info({ event: "starting", host: hostname(), pid: process.pid }, "observer-manager starts");
  const tracing = await loadTracing({ program: "observer-manager", version, instanceId: managerId, log });
  const manager = new ObserverManager({ settings, managerId, version, pageFolder: PAGE_FOLDER, log, tracing });
  endOnSignals(manager, tracing, log);
  await manager.listen();
  for (let againInMs = await manager.openBooks(); againInMs > 0; againInMs = await manager.openBooks())
    await delay(againInMs);
  manager.start();
}

function endOnSignals(manager: ObserverManager, tracing: Tracing | undefined, log: ReturnType<typeof createLog>): void {
  let signals = 0;
  const onSignal = (signal: NodeJS.Signals): void => {
    signals += 1;
    if (signals > 1) process.exit(1);
    log.info({ event: "ending", signal }, "observer-manager ends");
    const end = async () => {
      await manager.close();
      await tracing?.close(FLUSH_LIMIT_MS);
    };
    end().then(
      () => process.exit(0),
      (error: unknown) => {
        log.error({ err: error }, "the shutdown was not clean");
        process.exit(1);
      },
    );
  };
  process.on("SIGTERM", onSignal);
  process.on("SIGINT", onSignal);
}

main().catch((error: unknown) => {
  const log = createLog("info", {});
  const isKnown = [SettingsError, BrokerSettingsError, UnusableDatabaseError].some((known) => error instanceof known);
  const message = isKnown ? (error as Error).message : (listenFlaw(error) ?? describeDatabaseError(error).fields["message"]);
  const remedy = error instanceof SettingsError ? LISTED_BY_HELP : undefined;
  log.fatal({ event: "cannot-start", err: error, remedy }, `observer-manager cannot start: ${message ?? String(error)}`);
  process.exit(EXIT_CANNOT_START);
});
