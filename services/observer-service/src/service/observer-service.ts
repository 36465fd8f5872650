import {
  type BrokerSettings,
  type LossReason,
  Publisher,
  type Session,
  SupervisedConnection,
  untilAborted,
} from "@unacked/broker";
import { isOwnExchange, type ObserverTypeInfo, type QueueType, type ServiceBorn, workQueueName } from "@unacked/contracts";
import type { Tracing } from "@unacked/tracing";
import { errorText, stackOf } from "../error-text.ts";
import { ControlIntake } from "../keeper/control/control-intake.ts";
import { LogReplies } from "../keeper/control/log-replies.ts";
import type { ServiceIdentity } from "../keeper/identity.ts";
import { Topology } from "../keeper/intake/declare-topology.ts";
import { Drain } from "../keeper/intake/drain.ts";
import { GivenBack } from "../keeper/intake/given-back.ts";
import { Intake } from "../keeper/intake/intake.ts";
import { Shed } from "../keeper/intake/shed.ts";
import { Tombstones } from "../keeper/intake/tombstones.ts";
import { WorkConsumer } from "../keeper/intake/work-consumer.ts";
import { fencedTogether, LeaseKeeper } from "../keeper/lease/lease-keeper.ts";
import { ErrorReporter } from "../keeper/outbox/error-reporter.ts";
import { EventSender } from "../keeper/outbox/event-sender.ts";
import { createOutput } from "../keeper/outbox/output.ts";
import type { Handlers, Reload } from "../keeper/runs/handlers.ts";
import { quietForMs } from "../keeper/runs/live-run.ts";
import { tailBytesOf } from "../keeper/runs/run-tail.ts";
import { RunTracing } from "../keeper/runs/run-tracing.ts";
import { Runner } from "../keeper/runs/runner.ts";
import type { SlotsView } from "../keeper/slots/slot-history.ts";
import { TaskSide } from "../keeper/tasks/task-side.ts";
import type { Log } from "../log.ts";
import type { RunCost } from "../machine/run-cost.ts";
import { within } from "../within.ts";
import type { HealthView } from "./health-server.ts";
import { MemoryOutlook } from "./memory-outlook.ts";
import { ReloadOrders } from "./reload-orders.ts";
import { Reloading } from "./reloading.ts";
import { ServiceMetrics } from "./service-metrics.ts";
import { ALIVE_INTERVAL_MS, EventLoopLag, serviceAlive, serviceBorn } from "./service-report.ts";

export interface ServiceParts {
  readonly identity: ServiceIdentity;
  /** Where handlers run; open, and closed by this service's end. */
  readonly handlers: Handlers & SlotsView;
  readonly version: string;
  readonly broker: Pick<BrokerSettings, "url" | "tls" | "heartbeatS">;
  readonly queueType: QueueType;
  /** Whether this service declares what it uses on the broker, beside its own control queue. */
  readonly declaresTopology: boolean;
  readonly stopTimeoutMs: number;
  /** How often a run may save where it has got to, and how much all of them may in a second. */
  readonly updateTimeoutMs: number;
  readonly saving: { readonly everyMs: number; readonly bytesPerS: number };
  /** With `WORKER_COUNT=auto`: what an observer takes, which decides how many are taken. */
  readonly cost?: RunCost | undefined;
  /** How many tasks run at once, where there are types of tasks. */
  readonly taskWorkers: number;
  readonly log: Log;
  /** Undefined: nothing is traced. */
  readonly tracing?: Tracing | undefined;
  /** At once: what cannot be stopped otherwise must not act any more. */
  readonly exit: (code: number) => void;
  /** What became of loading the folder again, for the log. */
  readonly onReload: (reload: Reload) => void;
  /** This service fails, for a reason that is its process's. */
  readonly onFail: (error: unknown) => void;
  /** It has failed, is fenced and has said so: nothing of it is left but its process. */
  readonly onFailed: () => void;
}

const CONTROL_PREFETCH = 1_000;
const DRAINS: Reload = { kind: "refused", why: "this service drains", broken: [] };
/** What ending keeps back of its time for the last events and the close. */
const FAREWELL_MS = 3_000;
/** So long a birth may take to be confirmed before it is sent by another connection; a broker at work needs milliseconds. */
const BIRTH_LIMIT_MS = 10_000;
/** For the last spans of slots. */
const FLUSH_MS = 1_000;

/**
 * One observer-service: two connections (a broker with an alarm blocks one that publishes, and then no longer watches its
 * heartbeat), and what happens between them. Each new session of the consuming one is a generation.
 */
export class ObserverService {
  readonly metrics: ServiceMetrics;
  /** Why the last session was lost; told with the next birth. */
  #lastLoss: LossReason | undefined;
  readonly #parts: ServiceParts;
  readonly #topology: Topology;
  readonly #closing = new AbortController();
  readonly #consumer: SupervisedConnection;
  readonly #publisher: Publisher;
  readonly #events: EventSender;
  readonly #runner: Runner;
  readonly #lease: LeaseKeeper;
  readonly #intake: Intake;
  readonly #control: ControlIntake;
  readonly #drain: Drain;
  readonly #shed: Shed;
  readonly #tasks: TaskSide;
  /** As the folder was loaded last. */
  readonly #types = new Map<string, ObserverTypeInfo>();
  readonly #reloading = new Reloading(() => this.#reload());
  readonly #reloadOrders = new ReloadOrders({
    reload: () => this.reload(),
    tell: (event) => {
      if (this.#isHeard && !this.#ending) this.#events.tell(event);
    },
  });
  /** By type, since the boot. */
  readonly #emits = new Map<string, number>();
  readonly #lag = new EventLoopLag();
  readonly #work: WorkConsumer;
  /** What the broker agreed to; what is asked for until there is a session. */
  #heartbeatMs: number;
  /** The last proof of life that asked the work queue: until it is answered it may hold a message. */
  #reaching: Promise<unknown> = Promise.resolve();
  readonly #givenBack = new GivenBack();
  #alive: NodeJS.Timeout | undefined;
  /** As it is told. */
  #workers: number;
  #ending = false;
  #failing = false;

  constructor(parts: ServiceParts) {
    this.#parts = parts;
    const { identity, log, handlers, stopTimeoutMs, exit } = parts;
    const { serviceId, serviceName, workerCount } = identity;
    const silent = () => this.#runner.slots.all().filter((run) => quietForMs(run) !== undefined).length;
    const phases = () => this.#runner.slots.all().map(({ state }) => state.phase);
    const metrics = new ServiceMetrics({
      identity,
      health: () => this.health,
      phases,
      silent,
      handlers,
    });
    this.metrics = metrics;
    const { queueType, declaresTopology: declaresAll } = parts;
    const hasTasks = () => handlers.catalogue.tasks.length > 0 && parts.taskWorkers > 0;
    this.#learnTypes();
    this.#topology = new Topology({ serviceId, pool: identity.pool, queueType, declaresAll, hasTasks });
    const settings = (role: string): BrokerSettings => ({
      ...parts.broker,
      log,
      connectionName: `${serviceName} ${role} ${serviceId}`,
    });

    this.#workers = workerCount;
    this.#publisher = new Publisher(settings("publishes"), {
      declare: this.#topology.forPublishing,
      mustBeTaken: isOwnExchange,
    });
    this.#events = new EventSender(
      () => ({ ...identity, workerCount: this.#workers }),
      { publisher: this.#publisher, log },
      (event) => metrics.told(event),
    );
    const errors = new ErrorReporter(serviceId, { publisher: this.#publisher, log });
    const holds = (generation: number): boolean => this.#lease.holds(generation);
    const output = createOutput(this.#publisher, serviceId, (outcome, type) => {
      metrics.emitted(outcome);
      if (outcome === "confirmed") this.#emits.set(type, (this.#emits.get(type) ?? 0) + 1);
    });
    const onStart = (attempt: number) => metrics.started(attempt);
    const tailBytes = tailBytesOf(workerCount);
    const tracing = parts.tracing && new RunTracing(parts.tracing);
    const told = { handlers, events: this.#events, errors, output, log, onStart, tracing };
    this.#runner = new Runner({
      ...told,
      holds,
      stopTimeoutMs,
      tailBytes,
      saving: parts.saving,
      updateTimeoutMs: parts.updateTimeoutMs,
      traitsOf: (type) => ({ isAdmitted: this.#asksFirst(type), hasCheckpoint: this.#saves(type) }),
    });
    this.#heartbeatMs = parts.broker.heartbeatS * 1_000;
    this.#tasks = new TaskSide({
      identity,
      handlers,
      publisher: this.#publisher,
      queueType,
      declaresTopology: declaresAll,
      workers: parts.taskWorkers,
      errors,
      holds,
      stopTimeoutMs,
      log,
      closing: this.#closing.signal,
      takenBack: (generation) => this.#lease.takenBack(generation),
      onEnded: (how) => metrics.taskEnded(how),
    });
    const runs = fencedTogether(this.#runner, this.#tasks.runner);
    this.#lease = new LeaseKeeper({ runs, log, exit, onLost: (why) => metrics.fenced(why) });
    const shared = {
      runner: this.#runner,
      tombstones: new Tombstones(),
      errors,
      events: this.#events,
      holds,
      takenBack: (generation: number) => this.#lease.takenBack(generation),
      log,
      tracing,
      closing: this.#closing.signal,
    };
    this.#intake = new Intake({
      ...shared,
      knowsType: (type) => this.#types.has(type),
      asksFirst: (type) => this.#asksFirst(type),
      saves: (type) => this.#saves(type),
      isTraced: tracing !== undefined,
    });
    this.#control = new ControlIntake({
      ...shared,
      introduce: () => this.#introduction(),
      drain: () => this.#drainAsTold(),
      cordon: () => this.#follow("cordon", () => this.#drain.cordon()),
      uncordon: () => this.#follow("uncordon", () => this.#drain.goOn()),
      reload: (reloadId) => this.#reloadAsTold(reloadId),
      shed: {
        give: (runs) => this.#follow("shed", () => this.#shed.give(runs)),
        stepAside: () => this.#follow("step-aside", () => this.#shed.stepAside()),
      },
      givenBack: () => this.#givenBack.since(performance.now()),
      flushed: async () => {
        await Promise.all([this.#work.flushed(), this.#reaching]);
      },
      tasks: this.#tasks,
      logs: new LogReplies({ serviceId, publisher: this.#publisher, runner: this.#runner }),
    });
    const outlook = parts.cost && new MemoryOutlook(handlers, parts.cost, () => this.#runner.slots.size);
    this.#work = new WorkConsumer({
      workers: workerCount,
      running: () => this.#runner.slots.size,
      memory: outlook && ((isSettled) => outlook.look(isSettled)),
      onDelivery: (delivery) => {
        metrics.delivered(delivery.redelivered);
        this.#intake.take(delivery);
      },
      collect: () => handlers.collect(),
      onChange: () => this.#tellAlive(),
      log,
    });
    this.#shed = new Shed({ work: this.#work, runner: this.#runner, look: () => this.#lookAtWork(), log });
    this.#drain = new Drain({
      intake: this.#intake,
      runner: this.#runner,
      tasks: this.#tasks,
      work: this.#work,
      tell: () => this.#tellAlive(),
      log,
    });
    this.#consumer = new SupervisedConnection(settings("consumes"), {
      build: (session) => this.#build(session),
      onLost: (generation, reason) => this.#onLost(generation, reason),
      onLossExplained: (_, reason) => {
        this.#lastLoss = reason;
      },
    });
  }

  start(): void {
    this.#publisher.start();
    this.#consumer.start();
    this.#events.run().catch((error: unknown) => this.fail(error));
    this.#tasks.sender.run().catch((error: unknown) => this.fail(error));
    this.#holdSilence().catch((error: unknown) => this.fail(error));
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
      consumer: this.#consumer.status,
      publisher: this.#publisher.status,
      consuming: this.#work.isConsuming,
      isPaused: this.#work.pausedFor !== undefined || this.#work.isResting,
      room: this.#work.room,
      leaseHeld: this.#lease.held,
      draining: this.#drain.begun,
      running: this.#runner.slots.size,
      workerCount: this.#parts.identity.workerCount,
      eventsWaiting: this.#events.waiting + this.#tasks.sender.waiting,
      tasksRunning: this.#tasks.runner.size,
      taskWorkers: this.#tasks.workers,
    };
  }

  /**
   * SIGTERM. Takes nothing new, lets every run settle and gives its message back, says so, closes: all within
   * `stopTimeoutMs`. A crash in the middle leaves the rest to the broker, which gives it back likewise.
   */
  async end(why: string): Promise<void> {
    if (this.#ending) return;
    this.#ending = true;
    const { stopTimeoutMs } = this.#parts;
    const endMs = performance.now() + stopTimeoutMs;
    const farewellMs = Math.min(FAREWELL_MS, stopTimeoutMs / 4);
    await this.#drain.run(why, stopTimeoutMs - farewellMs);
    await this.#sayFarewell(why, Math.max(0, Math.min(endMs - performance.now(), farewellMs)));
    await this.#close();
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
    await within(0.4 * this.#heartbeatMs, this.#lease.processFailed());
    await this.#sayFarewell("an error that belongs to no observer", 1_000);
    onFailed();
  }

  /** SIGHUP, or an order. Loads the folder again; what runs by older code goes over to the new one. Undefined: this service ends. Never rejects. */
  async reload(): Promise<Reload | undefined> {
    try {
      return await this.#reloading.ask();
    } catch (error) {
      await this.fail(error);
      return undefined;
    }
  }

  async #reload(): Promise<Reload | undefined> {
    const { handlers, onReload } = this.#parts;
    const isDraining = this.#ending || this.#drain.begun;
    const reload: Reload = isDraining ? DRAINS : await handlers.reload();
    if (this.#ending && !isDraining) return undefined;
    onReload(reload);
    if (reload.kind === "refused") return reload;
    this.#learnTypes();
    // Who has no session now is born with them in the next.
    if (this.#lease.held) this.#events.tell(this.#introduction());
    this.#tasks.learnTypes(this.#consumer.session);
    this.#runner.renew(reload.kind === "loaded" ? reload : {});
    return reload;
  }

  #reloadAsTold(reloadId: string): void {
    if (this.#ending) return;
    this.#reloadOrders.take(reloadId).catch((error: unknown) => this.fail(error));
  }

  #learnTypes(): void {
    this.#types.clear();
    for (const info of this.#parts.handlers.catalogue.types) this.#types.set(info.type, info);
  }

  #asksFirst(type: string): boolean {
    return this.#types.get(type)?.start === "admitted";
  }

  #saves(type: string): boolean {
    return this.#types.get(type)?.checkpointSchema !== undefined;
  }

  /** The manager's order, which it repeats until it has heard that it is followed. Nothing is said after the farewell. */
  #drainAsTold(): void {
    if (this.#ending) return;
    if (this.#drain.begun) return this.#tellAlive();
    this.#drain.run("the manager asked for it", this.#parts.stopTimeoutMs).then(
      () => {
        if (!this.#ending) this.#tellAlive();
      },
      (error: unknown) => this.fail(error),
    );
  }

  /** An order that is answered by how things stand then. What a lost session breaks off is asked for again, or does not matter any more. */
  #follow(order: string, act: () => Promise<void>): void {
    if (this.#ending) return;
    act().then(
      () => {
        if (!this.#ending) this.#tellAlive();
      },
      (error: unknown) =>
        this.#parts.log.debug(
          { event: "order-broken-off", order, error: String(error) },
          "the session is lost, and says why",
        ),
    );
  }

  #lookAtWork(): Promise<{ messageCount: number; consumerCount: number }> {
    const { session } = this.#consumer;
    if (session === undefined) return Promise.reject(new Error("there is no session"));
    return session.inspect(workQueueName(this.#parts.identity.pool));
  }

  #introduction(): ServiceBorn {
    const { identity, version, handlers } = this.#parts;
    const { types, broken: brokenFiles } = handlers.catalogue;
    return serviceBorn({
      identity: { ...identity, workerCount: this.#workers },
      version,
      types,
      brokenFiles,
      lastLoss: this.#lastLoss,
      heartbeatMs: this.#heartbeatMs,
      draining: this.#drain.begun,
      cordoned: this.#drain.cordoned,
    });
  }

  async #build(session: Session): Promise<void> {
    const { identity, log } = this.#parts;
    this.#heartbeatMs = session.heartbeatMs;
    const queues = await this.#topology.declareForConsuming(session);
    await session.consume(queues.control, { prefetch: CONTROL_PREFETCH, noAck: true }, (delivery) =>
      this.#control.take(delivery),
    );
    // Nothing is held yet: that the connection lives is enough.
    await this.#lease.begin(session, () => session.inspect(queues.control));
    this.#events.enterGeneration(session.generation);
    await this.#knownToTheBooks(session);
    if (session.lost.aborted) return; // the next one may have begun meanwhile
    this.#tasks
      .begin(session)
      .catch((error: unknown) =>
        log.debug({ event: "no-tasks", error: String(error) }, "the session is lost, and says why"),
      );
    // Behind the introduction, by which a manager learns for which pool it has to declare a queue.
    await this.#topology.untilWorkQueueIsThere(session, (queue) =>
      log.warn({ event: "waiting-for-queue", queue }, "the manager has yet to declare the work queue"),
    );
    await this.#work.begin(session, queues.work);
    if (session.lost.aborted) return;
    // From now on that the queue itself can be reached: behind a cut between the broker's nodes it gives our messages away.
    const isDrained = () => this.#drain.begun && this.#runner.slots.size + this.#tasks.runner.size === 0;
    this.#lease.proveBy(session, () => {
      this.#reaching = isDrained() ? session.inspect(queues.control) : this.#reach(session, queues.work);
      return this.#reaching;
    });
    log.info(
      { event: "consuming", generation: session.generation, queue: queues.work, workers: identity.workerCount },
      "taking observers",
    );
  }

  /**
   * Takes no work before its birth stands in the state queue: the books would conclude that nobody has what it has. Not while
   * the broker blocks all that is published; then nothing can be concluded either. A confirm that was due while a queue had no
   * leader may never come: after a while all that is open is sent again through another connection.
   */
  async #knownToTheBooks({ lost }: Session): Promise<void> {
    const confirmed = new Promise<void>((resolve) => this.#events.tell(this.#introduction(), resolve));
    const enough = new AbortController();
    const known = Promise.race([confirmed, this.#publisher.blocked(enough.signal), untilAborted(lost)]);
    for (let waitedMs = BIRTH_LIMIT_MS; !(await within(waitedMs, known)); waitedMs *= 2) {
      this.#parts.log.warn(
        { event: "birth-not-confirmed", waitedMs, publisher: this.#publisher.status },
        "takes no work yet: the broker has not confirmed that the manager is told of this service; it is told again",
      );
      this.#publisher.startOver(`a birth was not confirmed within ${waitedMs} ms`);
    }
    enough.abort();
  }

  /** It may be given what no worker is free for: a marker is told of all the same, and whose the rest is, is remembered. */
  #reach(session: Session, queue: string): Promise<void> {
    return session.reach(queue, ({ body, type }) => {
      if (type === "QueueMarker" && this.#intake.noteMarker(body)) return "ack";
      this.#givenBack.remember(body, performance.now());
      return "requeue";
    });
  }

  #onLost(...[generation, reason]: Parameters<LeaseKeeper["sessionLost"]>): Promise<void> {
    this.#lastLoss = reason;
    this.#work.lost();
    this.#tasks.sessionLost();
    this.#reaching = Promise.resolve();
    return this.#lease.sessionLost(generation, reason);
  }

  /** There is nothing to say before the first generation is born, nor to anybody without a session. */
  get #isHeard(): boolean {
    return this.#consumer.status.generation > 0 && this.#lease.held;
  }

  #tellAlive(): void {
    // No two of these ever wait.
    if (!this.#isHeard) return;
    const running = this.#runner.slots.size;
    // With `auto` no more than what runs and what there is room for.
    if (this.#parts.cost !== undefined) this.#workers = Math.max(1, running + this.#work.room);
    const { begun: draining, cordoned } = this.#drain;
    const { isConsuming: consuming, pausedFor: notConsuming } = this.#work;
    const now = {
      workerCount: this.#workers,
      running,
      draining,
      cordoned,
      eventLoopLagMs: this.#lag.takeWorstMs(),
      consuming,
    };
    const emits = Object.fromEntries(this.#emits);
    this.#parts.cost?.keep();
    this.#events.tell(
      serviceAlive({ ...now, emits, ...(notConsuming !== undefined && { notConsuming }) }, this.#parts.handlers),
    );
    this.#tasks.tellAlive();
    void this.#stayReachable();
  }

  async #stayReachable(): Promise<void> {
    const { session } = this.#consumer;
    if (session === undefined) return;
    await this.#topology
      .stayReachable(session)
      .catch((error: unknown) =>
        this.#parts.log.debug(
          { event: "declare-refused", error: String(error) },
          "the session is lost with it, and says why",
        ),
      );
  }

  async #sayFarewell(reason: string, limitMs: number): Promise<void> {
    clearInterval(this.#alive);
    this.#events.tell({ kind: "ServiceDied", at: Date.now(), reason });
    const told = Promise.all([this.#events.emptied(), this.#tasks.sender.emptied()]);
    if (this.#publisher.status.up) await within(limitMs, told);
  }

  async #close(): Promise<void> {
    this.#lease.retire();
    this.#closing.abort();
    this.#events.close();
    this.#tasks.sender.close();
    const { handlers, tracing } = this.#parts;
    const ended = handlers.close(tracing === undefined ? 0 : FLUSH_MS);
    await Promise.all([ended, this.#consumer.close(), this.#publisher.close()]);
  }
}
