import { type BrokerSettings, Publisher } from "@unacked/broker";
import { isOwnExchange } from "@unacked/contracts";
import { ControlIntake } from "../keeper/control/control-intake.ts";
import { LogReplies } from "../keeper/control/log-replies.ts";
import { Orders } from "../keeper/control/orders.ts";
import { Topology } from "../keeper/intake/declare-topology.ts";
import { Drain } from "../keeper/intake/drain.ts";
import { fencedTogether } from "../keeper/lease/fenced-runs.ts";
import { LeaseKeeper } from "../keeper/lease/lease-keeper.ts";
import { ErrorReporter } from "../keeper/outbox/error-reporter.ts";
import type { Reload } from "../keeper/runs/handlers.ts";
import { RunTracing } from "../keeper/runs/run-tracing.ts";
import { TaskSide } from "../keeper/tasks/task-side.ts";
import { FolderReload } from "./folder-reload.ts";
import { Generations } from "./generations.ts";
import type { HealthView } from "./health-server.ts";
import { MemoryOutlook } from "./memory-outlook.ts";
import { RunSide } from "./run-side.ts";
import { ServiceEnd } from "./service-end.ts";
import { ServiceMetrics } from "./service-metrics.ts";
import type { ServiceParts } from "./service-parts.ts";
import { ALIVE_INTERVAL_MS } from "./service-report.ts";
import { ServiceVoice } from "./service-voice.ts";

/**
 * One observer-service: two connections (a broker with an alarm blocks one that publishes, and then no longer watches its
 * heartbeat), and what happens between them. Each new session of the consuming one is a generation.
 */
export class ObserverService {
  readonly metrics: ServiceMetrics;
  readonly #workerCount: number;
  readonly #publisher: Publisher;
  readonly #runs: RunSide;
  readonly #tasks: TaskSide;
  readonly #lease: LeaseKeeper;
  readonly #drain: Drain;
  readonly #voice: ServiceVoice;
  readonly #reload: FolderReload;
  readonly #generations: Generations;
  readonly #end: ServiceEnd;
  #alive: NodeJS.Timeout | undefined;

  constructor(parts: ServiceParts) {
    const { identity, log, handlers, queueType, declaresTopology, stopTimeoutMs, exit } = parts;
    const { serviceId, serviceName, pool, workerCount } = identity;
    const closing = new AbortController();
    const fail = (error: unknown) => this.fail(error);
    const isEnding = () => this.#end.begun;
    const tell = () => this.#tellAlive();
    this.#workerCount = workerCount;

    const metrics = new ServiceMetrics({
      identity,
      health: () => this.health,
      phases: () => this.#runs.phases,
      silent: () => this.#runs.silent,
      handlers,
    });
    this.metrics = metrics;

    const hasTasks = () => handlers.catalogue.tasks.length > 0 && parts.taskWorkers > 0;
    const topology = new Topology({ serviceId, pool, queueType, declaresAll: declaresTopology, hasTasks });
    const settings = (role: string): BrokerSettings => ({
      ...parts.broker,
      log,
      connectionName: `${serviceName} ${role} ${serviceId}`,
    });
    const publisher = new Publisher(settings("publishes"), {
      declare: topology.forPublishing,
      mustBeTaken: isOwnExchange,
    });
    this.#publisher = publisher;

    const running = { observers: () => this.#runs.runner.runs.size, tasks: () => this.#tasks.runner.size };
    const outlook = parts.cost && new MemoryOutlook(handlers, parts.cost, running);
    const shared = {
      identity,
      handlers,
      publisher,
      topology,
      errors: new ErrorReporter(serviceId, { publisher, log }),
      holds: (generation: number) => this.#lease.holds(generation),
      takenBack: (generation: number) => this.#lease.takenBack(generation),
      tracing: parts.tracing && new RunTracing(parts.tracing),
      stopTimeoutMs,
      closing: closing.signal,
      log,
    };
    const runs = new RunSide({
      ...shared,
      saving: parts.saving,
      updateTimeoutMs: parts.updateTimeoutMs,
      memory: outlook && ((isSettled) => outlook.look(isSettled)),
      toldWorkers: () => this.#voice.workers,
      prove: () => this.#lease.proveNow(),
      proveBy: (session, proof) => this.#lease.proveBy(session, proof),
      isDrained: () => this.#drain.begun && running.observers() + running.tasks() === 0,
      onStart: (attempt) => metrics.started(attempt),
      onTold: (event) => metrics.told(event),
      onDelivery: ({ redelivered }) => metrics.delivered(redelivered),
      onEmit: (outcome, type) => {
        metrics.emitted(outcome);
        if (outcome === "confirmed") this.#voice.noteEmit(type);
      },
      onChange: tell,
    });
    this.#runs = runs;
    const tasks = new TaskSide({
      ...shared,
      queueType,
      declaresTopology,
      workers: parts.taskWorkers,
      onEnded: (how) => {
        metrics.taskEnded(how);
        outlook?.taskEnded();
      },
    });
    this.#tasks = tasks;

    const fenced = fencedTogether(runs.runner, tasks.runner);
    const lease = new LeaseKeeper({
      runs: fenced,
      log,
      exit,
      onLost: (why) => {
        metrics.fenced(why);
        runs.leaseLost(why);
      },
      onAnswer: (answer) => runs.work.answered(answer),
    });
    this.#lease = lease;

    const { events, runner, intake, work, shed } = runs;
    const drain = new Drain({ intake, runner, work, tasks, tell, log });
    this.#drain = drain;
    const voice = new ServiceVoice({
      ...parts,
      ...{ events, runner, work, tasks, drain },
      isHeard: () => this.#generations.status.generation > 0 && lease.held,
      heartbeatMs: () => this.#generations.heartbeatMs,
    });
    this.#voice = voice;
    this.#reload = new FolderReload({
      ...parts,
      ...{ types: runs.types, runner, tasks, drain, voice, isEnding, fail },
      isIntroduced: () => lease.held,
      onReload: (outcome) => {
        metrics.reloaded(outcome.kind);
        parts.onReload(outcome);
      },
    });

    const reload = (reloadId: string) => this.#reload.askedByOrder(reloadId);
    const control = new ControlIntake({
      ...shared,
      ...{ runner, events, tasks, tombstones: runs.tombstones },
      introduce: () => voice.introduction(),
      orders: new Orders({ reload, drain, shed, tell, stopTimeoutMs, isEnding, fail, log }),
      givenBack: () => runs.givenBack.since(performance.now()),
      flushed: () => runs.queue.flushed(),
      logs: new LogReplies({ serviceId, publisher, runner }),
    });
    const generations = new Generations({
      ...{ topology, lease, events, voice, publisher, control, tasks, log },
      settings: settings("consumes"),
      work: runs.queue,
    });
    this.#generations = generations;
    this.#end = new ServiceEnd({
      ...parts,
      ...{ drain, runs: fenced, lease, generations, publisher, voice },
      quieten: () => clearInterval(this.#alive),
      closeSenders: () => {
        closing.abort();
        events.close();
        tasks.sender.close();
      },
    });
  }

  start(): void {
    const fail = (error: unknown) => this.fail(error);
    this.#publisher.start();
    this.#generations.start();
    this.#runs.events.run().catch(fail);
    this.#tasks.sender.run().catch(fail);
    this.#runs.holdSilence().catch(fail);
    this.#alive = setInterval(() => this.#tellAlive(), ALIVE_INTERVAL_MS);
  }

  get health(): HealthView {
    const { runner, work, events } = this.#runs;
    return {
      consumer: this.#generations.status,
      publisher: this.#publisher.status,
      consuming: work.isConsuming,
      isPaused: work.pausedFor !== undefined || work.isResting,
      room: work.room,
      leaseHeld: this.#lease.held,
      draining: this.#drain.begun,
      cordoned: this.#drain.cordoned,
      running: runner.runs.size,
      workerCount: this.#workerCount,
      eventsWaiting: events.waiting + this.#tasks.sender.waiting,
      tasksRunning: this.#tasks.runner.size,
      taskWorkers: this.#tasks.workers,
    };
  }

  /** Ends on SIGTERM, all within `stopTimeoutMs`. */
  end(why: string): Promise<void> {
    return this.#end.inOrder(why);
  }

  /** Something broke that belongs to no run, so this process has to end. */
  fail(error: unknown): Promise<void> {
    return this.#end.byError(error);
  }

  /** Loads the folder again on SIGHUP; runs of older code move to the new one. Undefined if this service ends. Never rejects. */
  reload(): Promise<Reload | undefined> {
    return this.#reload.ask();
  }

  #tellAlive(): void {
    if (this.#voice.tellAlive()) void this.#generations.stayReachable();
  }
}
