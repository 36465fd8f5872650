import type { Readiness } from "@unacked/contracts";
import { type HttpServer, startHttpServer } from "./adapters/http/server/http-server.ts";
import { httpAccessOf, sayWhoMayComeIn } from "./http-access.ts";
import { type ManagerParts, ManagerSides } from "./manager-sides.ts";
import type { ManagerApi } from "./operations/manager-api.ts";

/** One manager, from its first answer until it is closed: its sides are started and ended in order. */
export class ObserverManager {
  readonly #parts: ManagerParts;
  readonly #sides: ManagerSides;
  readonly #api: ManagerApi;
  readonly #access: ReturnType<typeof httpAccessOf>;
  #http: HttpServer | undefined;

  constructor(parts: ManagerParts) {
    this.#parts = parts;
    this.#access = httpAccessOf(parts.settings, parts.log);
    this.#sides = new ManagerSides(parts);
    this.#api = apiOf(this.#sides, () => this.#readiness());
  }

  /** Answers HTTP from now on; readiness says what is still missing. Rejects when the port cannot be had. */
  async listen(): Promise<void> {
    const { settings, version, pageFolder, log, tracing } = this.#parts;
    const { HOST: host, PORT: port } = settings;
    this.#http = await startHttpServer({
      metrics: this.#sides.metrics,
      host,
      port,
      api: this.#api,
      log,
      version,
      pageFolder,
      describeError: (error) => this.#sides.database.describeError(error),
      access: this.#access,
      basePath: settings.BASE_PATH,
      tracing,
    });
    sayWhoMayComeIn(this.#access, settings, log);
    log.info({ event: "listening", url: this.#http.url }, "listening");
  }

  /** @returns 0; or in how many ms to try again */
  openBooks(): Promise<number> {
    return this.#sides.database.open();
  }

  start(): void {
    const sides = this.#sides;
    sides.observers.start();
    sides.lostActions.start();
    sides.features.start();
    sides.tasks.start();
    sides.flows.start();
    sides.requests.start();
    sides.timers.start();
    sides.schedules.start();
    sides.balance.start();
    sides.bulkWork.start();
  }

  async close(): Promise<void> {
    const sides = this.#sides;
    const rounds = sides.observers.endRounds();
    sides.logs.close();
    sides.tasks.endWaits();
    sides.flows.endWaits();
    await Promise.all([sides.changes.close(), this.#http?.close(), sides.requests.close()]);
    this.#access.callers.close();
    await Promise.all([
      rounds,
      sides.observers.close(),
      sides.tasks.close(),
      sides.flows.close(),
      sides.timers.close(),
      sides.schedules.close(),
      sides.balance.close(),
      sides.bulkWork.close(),
    ]);
    await sides.lostActions.stop();
    await sides.features.stop();
    await sides.database.close();
  }

  async #readiness(): Promise<Readiness> {
    const checks = { database: await this.#sides.database.check(), ...this.#sides.observers.checks() };
    return { ready: Object.values(checks).every((check) => check.ok), checks };
  }
}

/** All that can be asked of it. */
function apiOf(sides: ManagerSides, readiness: () => Promise<Readiness>): ManagerApi {
  return {
    tasks: sides.tasks.desk,
    taskTypes: sides.tasks.typeDesk,
    taskFailures: sides.tasks.failureDesk,
    taskFigures: sides.tasks.figureDesk,
    taskTakes: sides.tasks.takeDesk,
    flows: sides.flows.desk,
    timers: sides.timers.desk,
    schedules: sides.schedules.desk,
    bulkWork: sides.bulkWork.desk,
    errors: sides.observers.errorDesk,
    lifecycle: sides.observers.lifecycle,
    checkpoints: sides.observers.checkpointDesk,
    services: sides.services,
    balance: sides.balance.desk,
    logs: sides.logs,
    reads: sides.reads,
    changes: sides.changes,
    readiness,
  };
}
