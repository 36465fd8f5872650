import {
  type BrokerSettings,
  type Consumer,
  type LossReason,
  Publisher,
  type Session,
  SupervisedConnection,
} from "@unacked/broker";
import type { ObserverTypeInfo, QueueType, ServiceBorn } from "@unacked/contracts";
import type { Tracing } from "@unacked/tracing";
import { ControlIntake } from "./control-intake.ts";
import { Topology } from "./declare-topology.ts";
import { Drain } from "./drain.ts";
import { ErrorReporter } from "./error-reporter.ts";
import { errorText, stackOf } from "./error-text.ts";
import { EventSender } from "./event-sender.ts";
import type { HealthView } from "./health.ts";
import type { ServiceIdentity } from "./identity.ts";
import { Intake } from "./intake.ts";
import { LeaseKeeper } from "./lease-keeper.ts";
import type { ObserverTypes } from "./load-observers.ts";
import type { Log } from "./log.ts";
import { LogReplies } from "./log-replies.ts";
import { createOutput } from "./output.ts";
import { tailBytesOf } from "./run-tail.ts";
import { RunTracing } from "./run-tracing.ts";
import { Runner } from "./runner.ts";
import { ServiceMetrics } from "./service-metrics.ts";
import { ALIVE_INTERVAL_MS, describeTypes, EventLoopLag, serviceAlive, serviceBorn } from "./service-report.ts";
import { Tombstones } from "./tombstones.ts";
import { within } from "./within.ts";

export interface ServiceParts {
  readonly identity: ServiceIdentity;
  readonly types: ObserverTypes;
  readonly version: string;
  readonly broker: Pick<BrokerSettings, "url" | "tls" | "heartbeatS">;
  readonly queueType: QueueType;
  /** Whether this service declares what it uses on the broker, beside its own control queue. */
  readonly declaresTopology: boolean;
  readonly stopTimeoutMs: number;
  readonly log: Log;
  /** Undefined: nothing is traced. */
  readonly tracing?: Tracing | undefined;
  readonly exit: (code: number) => void;
}

const CONTROL_PREFETCH = 1_000;
/** What ending keeps back of its time for the last events and the close. */
const FAREWELL_MS = 3_000;

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
  readonly #lag = new EventLoopLag();
  readonly #typeInfos: ObserverTypeInfo[];
  #work: Consumer | undefined;
  #alive: NodeJS.Timeout | undefined;
  #ending = false;
  #failing = false;

  constructor(parts: ServiceParts) {
    this.#parts = parts;
    const { identity, log, types, stopTimeoutMs, exit } = parts;
    const { serviceId, serviceName, workerCount } = identity;
    this.#typeInfos = describeTypes(types, log);
    const phases = () => this.#runner.slots.all().map(({ state }) => state.phase);
    const metrics = new ServiceMetrics({ identity, version: parts.version, health: () => this.health, phases });
    this.metrics = metrics;
    const { queueType, declaresTopology: declaresAll } = parts;
    this.#topology = new Topology({ serviceId, pool: identity.pool, queueType, declaresAll });
    const settings = (role: string): BrokerSettings => ({
      ...parts.broker,
      log,
      connectionName: `${serviceName} ${role} ${serviceId}`,
    });

    this.#publisher = new Publisher(settings("publishes"), { declare: this.#topology.forPublishing });
    this.#events = new EventSender(identity, { publisher: this.#publisher, log }, (event) => metrics.told(event));
    const errors = new ErrorReporter(serviceId, { publisher: this.#publisher, log });
    const holds = (generation: number): boolean => this.#lease.holds(generation);
    const output = createOutput(this.#publisher, serviceId, (outcome) => metrics.emitted(outcome));
    const onStart = (attempt: number) => metrics.started(attempt);
    const tailBytes = tailBytesOf(workerCount);
    const tracing = parts.tracing && new RunTracing(parts.tracing);
    const told = { events: this.#events, errors, output, log, onStart, tracing };
    this.#runner = new Runner({ ...told, holds, stopTimeoutMs, tailBytes });
    const heartbeatMs = parts.broker.heartbeatS * 1_000;
    this.#lease = new LeaseKeeper({ heartbeatMs, runs: this.#runner, log, exit, onLost: (why) => metrics.fenced(why) });
    const shared = {
      runner: this.#runner,
      tombstones: new Tombstones(),
      errors,
      events: this.#events,
      holds,
      log,
      tracing,
      closing: this.#closing.signal,
    };
    this.#intake = new Intake({ ...shared, types, isTraced: tracing !== undefined });
    this.#control = new ControlIntake({
      ...shared,
      introduce: () => this.#introduction(),
      drain: () => this.#drainAsTold(),
      logs: new LogReplies({ serviceId, publisher: this.#publisher, runner: this.#runner }),
    });
    this.#drain = new Drain({
      intake: this.#intake,
      runner: this.#runner,
      work: () => this.#work,
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
    this.#alive = setInterval(() => this.#tellAlive(), ALIVE_INTERVAL_MS);
  }

  get health(): HealthView {
    return {
      consumer: this.#consumer.status,
      publisher: this.#publisher.status,
      consuming: this.#work !== undefined,
      leaseHeld: this.#lease.held,
      draining: this.#drain.begun,
      running: this.#runner.slots.size,
      workerCount: this.#parts.identity.workerCount,
      eventsWaiting: this.#events.waiting,
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

  /** Something broke that is nobody's: fences everything, says so if it can, and ends the process with 1. */
  async fail(error: unknown): Promise<void> {
    const { log, exit, broker } = this.#parts;
    log.fatal(
      { event: "process-failed", error: errorText(error), stack: stackOf(error) },
      "an error that belongs to no observer; this process ends",
    );
    if (this.#failing) return;
    this.#failing = true;
    this.#ending = true;
    this.#drain.refuseAll();
    await within(0.4 * broker.heartbeatS * 1_000, this.#lease.processFailed());
    await this.#sayFarewell("an error that belongs to no observer", 1_000);
    exit(1);
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

  #introduction(): ServiceBorn {
    const { identity, version, broker } = this.#parts;
    return serviceBorn({
      ...{ identity, version, types: this.#typeInfos, lastLoss: this.#lastLoss },
      heartbeatMs: broker.heartbeatS * 1_000,
      draining: this.#drain.begun,
    });
  }

  async #build(session: Session): Promise<void> {
    const { identity, log } = this.#parts;
    const queues = await this.#topology.declareForConsuming(session);
    await session.consume(queues.control, { prefetch: CONTROL_PREFETCH, noAck: true }, (delivery) =>
      this.#control.take(delivery),
    );
    await this.#lease.begin(session, queues.control);
    this.#events.enterGeneration(session.generation);
    this.#events.tell(this.#introduction());
    if (this.#drain.begun) return;
    // Behind the introduction, by which a manager learns for which pool it has to declare a queue.
    await this.#topology.untilWorkQueueIsThere(session, (queue) =>
      log.warn({ event: "waiting-for-queue", queue }, "the manager has yet to declare the work queue"),
    );
    const work = await session.consume(queues.work, { prefetch: identity.workerCount }, (delivery) => {
      this.metrics.delivered(delivery.redelivered);
      this.#intake.take(delivery);
    });
    if (session.lost.aborted) return;
    this.#work = work;
    // Told to drain while the broker was asked for work: it would hand out what we give back.
    if (this.#drain.begun) return work.cancel();
    log.info(
      { event: "consuming", generation: session.generation, queue: queues.work, workers: identity.workerCount },
      "taking observers",
    );
  }

  #onLost(...[generation, reason]: Parameters<LeaseKeeper["sessionLost"]>): Promise<void> {
    this.#lastLoss = reason;
    this.#work = undefined;
    return this.#lease.sessionLost(generation, reason);
  }

  #tellAlive(): void {
    // Nothing to say before the first generation is born, and no two of these ever wait.
    if (this.#consumer.status.generation === 0 || !this.#lease.held) return;
    const { workerCount } = this.#parts.identity;
    const running = this.#runner.slots.size;
    const draining = this.#drain.begun;
    this.#events.tell(serviceAlive({ workerCount, running, draining, eventLoopLagMs: this.#lag.takeWorstMs() }));
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
    if (this.#publisher.status.up) await within(limitMs, this.#events.emptied());
  }

  async #close(): Promise<void> {
    this.#lease.retire();
    this.#closing.abort();
    this.#events.close();
    await Promise.all([this.#consumer.close(), this.#publisher.close()]);
  }
}
