import { type BrokerSettings, Publisher } from "@unacked/broker";
import { isOwnExchange } from "@unacked/contracts";
import { errorText, stackOf } from "../error-text.ts";
import { ControlIntake } from "../keeper/control/control-intake.ts";
import { LogReplies } from "../keeper/control/log-replies.ts";
import { Orders } from "../keeper/control/orders.ts";
import { Caution } from "../keeper/intake/caution.ts";
import { Topology } from "../keeper/intake/declare-topology.ts";
import { Drain } from "../keeper/intake/drain.ts";
import { GivenBack } from "../keeper/intake/given-back.ts";
import { Intake } from "../keeper/intake/intake.ts";
import { Shed } from "../keeper/intake/shed.ts";
import { Tombstones } from "../keeper/intake/tombstones.ts";
import { WorkConsumer } from "../keeper/intake/work-consumer.ts";
import { type FencedRuns, fencedTogether, LeaseKeeper } from "../keeper/lease/lease-keeper.ts";
import { ErrorReporter } from "../keeper/outbox/error-reporter.ts";
import { EventSender } from "../keeper/outbox/event-sender.ts";
import { createOutput } from "../keeper/outbox/output.ts";
import type { Reload } from "../keeper/runs/handlers.ts";
import { quietForMs } from "../keeper/runs/live-run.ts";
import { tailBytesOf } from "../keeper/runs/run-tail.ts";
import { RunTracing } from "../keeper/runs/run-tracing.ts";
import { Runner } from "../keeper/runs/runner.ts";
import { TaskSide } from "../keeper/tasks/task-side.ts";
import { within } from "../within.ts";
import { FolderReload } from "./folder-reload.ts";
import { Generations } from "./generations.ts";
import type { HealthView } from "./health-server.ts";
import { LoadedTypes } from "./loaded-types.ts";
import { MemoryOutlook } from "./memory-outlook.ts";
import { ServiceMetrics } from "./service-metrics.ts";
import type { ServiceParts } from "./service-parts.ts";
import { ALIVE_INTERVAL_MS } from "./service-report.ts";
import { ServiceVoice } from "./service-voice.ts";

/** What ending keeps back of its time for the last events and the close. */
const FAREWELL_MS = 3_000;
/** For the last spans of slots. */
const FLUSH_MS = 1_000;

/**
 * One observer-service: two connections (a broker with an alarm blocks one that publishes, and then no longer watches its
 * heartbeat), and what happens between them. Each new session of the consuming one is a generation.
 */
export class ObserverService {
  readonly metrics: ServiceMetrics;
  readonly #parts: ServiceParts;
  readonly #closing = new AbortController();
  readonly #publisher: Publisher;
  readonly #generations: Generations;
  readonly #events: EventSender;
  readonly #runner: Runner;
  readonly #runs: FencedRuns;
  readonly #lease: LeaseKeeper;
  readonly #tasks: TaskSide;
  readonly #work: WorkConsumer;
  readonly #drain: Drain;
  readonly #reload: FolderReload;
  readonly #voice: ServiceVoice;
  #alive: NodeJS.Timeout | undefined;
  #ending = false;
  #failing = false;

  constructor(parts: ServiceParts) {
    this.#parts = parts;
    const { identity, log, handlers, stopTimeoutMs, exit, queueType, declaresTopology: declaresAll } = parts;
    const { serviceId, serviceName, workerCount } = identity;
    const closing = this.#closing.signal;
    const fail = (error: unknown) => this.fail(error);
    const isEnding = () => this.#ending;
    const tellAlive = () => this.#tellAlive();
    const holds = (generation: number): boolean => this.#lease.holds(generation);
    const takenBack = (generation: number) => this.#lease.takenBack(generation);
    const hasTasks = () => handlers.catalogue.tasks.length > 0 && parts.taskWorkers > 0;
    const silent = () => this.#runner.slots.all().filter((run) => quietForMs(run) !== undefined).length;
    const phases = () => this.#runner.slots.all().map(({ state }) => state.phase);
    const metrics = new ServiceMetrics({ identity, health: () => this.health, phases, silent, handlers });
    this.metrics = metrics;

    const topology = new Topology({ serviceId, pool: identity.pool, queueType, declaresAll, hasTasks });
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
    const events = new EventSender(
      () => ({ ...identity, workerCount: this.#voice.workers }),
      { publisher, log },
      (event) => metrics.told(event),
    );
    this.#events = events;
    const errors = new ErrorReporter(serviceId, { publisher, log });
    const output = createOutput(publisher, serviceId, (outcome, type) => {
      metrics.emitted(outcome);
      if (outcome === "confirmed") this.#voice.noteEmit(type);
    });

    const types = new LoadedTypes(handlers);
    const tracing = parts.tracing && new RunTracing(parts.tracing);
    const givenBack = new GivenBack();
    const runner = new Runner({
      handlers,
      events,
      errors,
      output,
      log,
      tracing,
      holds,
      stopTimeoutMs,
      onStart: (attempt) => metrics.started(attempt),
      onGivenBack: (observerId) => givenBack.note(observerId, performance.now()),
      tailBytes: tailBytesOf(workerCount),
      saving: parts.saving,
      updateTimeoutMs: parts.updateTimeoutMs,
      traitsOf: (type) => ({ isAdmitted: types.asksFirst(type), hasCheckpoint: types.saves(type) }),
    });
    this.#runner = runner;
    const tasks = new TaskSide({
      identity,
      handlers,
      publisher,
      queueType,
      declaresTopology: declaresAll,
      workers: parts.taskWorkers,
      errors,
      holds,
      stopTimeoutMs,
      log,
      closing,
      takenBack,
      onEnded: (how) => {
        metrics.taskEnded(how);
        outlook?.taskEnded();
      },
    });
    this.#tasks = tasks;
    const runs = fencedTogether(runner, tasks.runner);
    this.#runs = runs;
    const caution = new Caution(workerCount);
    this.#lease = new LeaseKeeper({
      runs,
      log,
      exit,
      onLost: (why) => {
        metrics.fenced(why);
        if (!caution.leaseLost(why, performance.now())) return;
        log.warn({ event: "intake-careful" }, "work is taken a few messages at a time, and more as the broker answers");
      },
      onAnswer: (answer) => this.#work.answered(answer),
    });

    const shared = { runner, tombstones: new Tombstones(), errors, events, holds, takenBack, log, tracing, closing };
    const intake = new Intake({
      ...shared,
      knowsType: (type) => types.has(type),
      asksFirst: (type) => types.asksFirst(type),
      saves: (type) => types.saves(type),
      isTraced: tracing !== undefined,
    });
    const running = { observers: () => runner.slots.size, tasks: () => tasks.runner.size };
    const outlook: MemoryOutlook | undefined = parts.cost && new MemoryOutlook(handlers, parts.cost, running);
    const work = new WorkConsumer({
      workers: workerCount,
      running: () => runner.slots.size,
      memory: outlook && ((isSettled) => outlook.look(isSettled)),
      caution,
      underWay: () => events.waiting + runner.slots.all().filter(({ state }) => state.phase === "waiting").length,
      prove: () => this.#lease.proveNow(),
      onDelivery: (delivery) => {
        metrics.delivered(delivery.redelivered);
        intake.take(delivery);
      },
      collect: () => handlers.collect(),
      onChange: tellAlive,
      log,
    });
    this.#work = work;
    const drain = new Drain({ intake, runner, tasks, work, tell: tellAlive, log });
    this.#drain = drain;
    const shed = new Shed({ work, runner, look: () => this.#generations.lookAtWork(), stopTimeoutMs, log });

    const voice = new ServiceVoice({
      ...parts,
      events,
      tasks,
      runner,
      work,
      drain,
      isHeard: () => this.#generations.status.generation > 0 && this.#lease.held,
      heartbeatMs: () => this.#generations.heartbeatMs,
    });
    this.#voice = voice;
    this.#reload = new FolderReload({
      ...parts,
      types,
      runner,
      tasks,
      drain,
      voice,
      isIntroduced: () => this.#lease.held,
      isEnding,
      fail,
      onReload: (outcome) => {
        metrics.reloaded(outcome.kind);
        parts.onReload(outcome);
      },
    });
    const reload = (reloadId: string) => this.#reload.askedByOrder(reloadId);
    const control = new ControlIntake({
      ...shared,
      introduce: () => voice.introduction(),
      orders: new Orders({ reload, drain, shed, tell: tellAlive, stopTimeoutMs, isEnding, fail, log }),
      givenBack: () => givenBack.since(performance.now()),
      flushed: () => this.#generations.flushed(),
      tasks,
      logs: new LogReplies({ serviceId, publisher, runner }),
    });
    const lease = this.#lease;
    const heard = { control, intake, work, tasks, givenBack };
    const told = { events, voice, publisher };
    this.#generations = new Generations({
      ...heard,
      ...told,
      identity,
      settings: settings("consumes"),
      topology,
      lease,
      runner,
      drain,
      log,
    });
  }

  start(): void {
    const fail = (error: unknown) => this.fail(error);
    this.#publisher.start();
    this.#generations.start();
    this.#events.run().catch(fail);
    this.#tasks.sender.run().catch(fail);
    this.#holdSilence().catch(fail);
    this.#alive = setInterval(() => this.#tellAlive(), ALIVE_INTERVAL_MS);
  }

  /** An observer that hears nothing while nothing can be published is not to blame. */
  async #holdSilence(): Promise<void> {
    const { signal } = this.#closing;
    const { handlers } = this.#parts;
    try {
      for (;;) {
        handlers.holdSilence(true);
        await this.#publisher.writable(signal);
        handlers.holdSilence(false);
        await this.#publisher.heldUp(signal);
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  get health(): HealthView {
    return {
      consumer: this.#generations.status,
      publisher: this.#publisher.status,
      consuming: this.#work.isConsuming,
      isPaused: this.#work.pausedFor !== undefined || this.#work.isResting,
      room: this.#work.room,
      leaseHeld: this.#lease.held,
      draining: this.#drain.begun,
      cordoned: this.#drain.cordoned,
      running: this.#runner.slots.size,
      workerCount: this.#parts.identity.workerCount,
      eventsWaiting: this.#events.waiting + this.#tasks.sender.waiting,
      tasksRunning: this.#tasks.runner.size,
      taskWorkers: this.#tasks.workers,
    };
  }

  /**
   * SIGTERM. Takes nothing new, lets every run settle and gives its message back, ends for certain what does not, says so: all within
   * `stopTimeoutMs`; and closes. A crash in the middle leaves the rest to the broker, which gives it back likewise.
   */
  async end(why: string): Promise<void> {
    if (this.#ending) return;
    this.#ending = true;
    const { stopTimeoutMs } = this.#parts;
    const endMs = performance.now() + stopTimeoutMs;
    const farewellMs = Math.min(FAREWELL_MS, stopTimeoutMs / 4);
    await this.#drain.run(why, stopTimeoutMs - farewellMs);
    const nothingRuns = await this.#endUnsettled(farewellMs / 2);
    await this.#sayFarewell(why, Math.max(0, Math.min(endMs - performance.now(), farewellMs)));
    await this.#close(nothingRuns);
  }

  /** Something broke that is nobody's: fences everything, says so if it can, and has the process end. */
  async fail(error: unknown): Promise<void> {
    const { log, onFail, onFailed } = this.#parts;
    log.fatal(
      { event: "process-failed", error: errorText(error), stack: stackOf(error) },
      "an error that belongs to no observer; this process ends",
    );
    if (this.#failing) return;
    this.#failing = true;
    onFail(error);
    this.#ending = true;
    this.#drain.refuseAll();
    await within(0.4 * this.#generations.heartbeatMs, this.#lease.processFailed());
    await this.#sayFarewell("an error that belongs to no observer", 1_000);
    onFailed();
  }

  /** SIGHUP. Loads the folder again; what runs by older code goes over to the new one. Undefined: this service ends. Never rejects. */
  reload(): Promise<Reload | undefined> {
    return this.#reload.ask();
  }

  #tellAlive(): void {
    if (this.#voice.tellAlive()) void this.#generations.stayReachable();
  }

  async #sayFarewell(reason: string, limitMs: number): Promise<void> {
    clearInterval(this.#alive);
    await this.#voice.sayFarewell(reason, this.#publisher.status.up ? limitMs : 0);
  }

  /**
   * Who has not settled goes with its slot, while the broker keeps its message from others; then that is given back as any other.
   *
   * @returns false: without slots only the end of this process ends it
   */
  async #endUnsettled(limitMs: number): Promise<boolean> {
    const { generation } = this.#generations.status;
    if (this.#runs.unsettled(generation).length === 0) return true;
    if (!this.#runs.endForCertain(generation)) return false;
    await within(limitMs, this.#runs.settled(generation));
    return true;
  }

  /** @param nothingRuns else the connection that holds the messages is left standing: it goes with the process, and what runs with both */
  async #close(nothingRuns: boolean): Promise<void> {
    this.#lease.retire();
    this.#closing.abort();
    this.#events.close();
    this.#tasks.sender.close();
    const { handlers, tracing } = this.#parts;
    const ended = handlers.close(tracing === undefined ? 0 : FLUSH_MS);
    await Promise.all([ended, nothingRuns && this.#generations.close(), this.#publisher.close()]);
  }
}
