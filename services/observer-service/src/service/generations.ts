import {
  type BrokerSettings,
  type LossReason,
  type Publisher,
  type Session,
  SupervisedConnection,
  untilAborted,
} from "@unacked/broker";
import type { ControlIntake } from "../keeper/control/control-intake.ts";
import type { Topology } from "../keeper/intake/declare-topology.ts";
import type { WorkQueue } from "../keeper/intake/work-queue.ts";
import type { LeaseKeeper } from "../keeper/lease/lease-keeper.ts";
import type { EventSender } from "../keeper/outbox/event-sender.ts";
import type { TaskSide } from "../keeper/tasks/task-side.ts";
import type { Log } from "../log.ts";
import { within } from "../within.ts";
import type { ServiceVoice } from "./service-voice.ts";

export interface GenerationsParts {
  readonly settings: BrokerSettings;
  readonly topology: Pick<Topology, "declareForOrders" | "stayReachable">;
  readonly lease: Pick<LeaseKeeper, "begin" | "sessionLost">;
  readonly events: Pick<EventSender, "enterGeneration">;
  readonly voice: Pick<ServiceVoice, "introduction" | "tell" | "lastLoss">;
  readonly publisher: Pick<Publisher, "blocked" | "startOver" | "status">;
  readonly control: Pick<ControlIntake, "take">;
  readonly work: Pick<WorkQueue, "begin" | "lost">;
  readonly tasks: Pick<TaskSide, "begin" | "sessionLost">;
  readonly log: Log;
}

const CONTROL_PREFETCH = 1_000;
/**
 * How long a birth may take to be confirmed before it is sent by another connection; a broker at work needs milliseconds.
 */
const BIRTH_LIMIT_MS = 10_000;

/**
 * The consuming connection; each new session of it is a generation. Guarantees, each time and in this order: orders are heard, the lease is
 * begun, the manager knows this service, and only then work is taken. A session that is lost in the middle leaves nothing behind: the next
 * one begins with the first step.
 */
export class Generations {
  readonly #parts: GenerationsParts;
  readonly #connection: SupervisedConnection;
  /** The heartbeat that the broker agreed to, or the requested one until there is a session. */
  #heartbeatMs: number;

  constructor(parts: GenerationsParts) {
    this.#parts = parts;
    this.#heartbeatMs = parts.settings.heartbeatS * 1_000;
    this.#connection = new SupervisedConnection(parts.settings, {
      build: (session) => this.#begin(session),
      onLost: (generation, reason) => this.#lost(generation, reason),
      onLossExplained: (_, reason) => {
        parts.voice.lastLoss = reason;
      },
    });
  }

  get status(): SupervisedConnection["status"] {
    return this.#connection.status;
  }

  get heartbeatMs(): number {
    return this.#heartbeatMs;
  }

  start(): void {
    this.#connection.start();
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  /** Declares again the queue by which orders arrive, in case somebody has deleted it. */
  async stayReachable(): Promise<void> {
    const { session } = this.#connection;
    if (session === undefined) return;
    const { topology, log } = this.#parts;
    await topology
      .stayReachable(session)
      .catch((error: unknown) =>
        log.debug({ event: "declare-refused", error: String(error) }, "the session is lost with it, and says why"),
      );
  }

  async #begin(session: Session): Promise<void> {
    const { log, topology, control, lease, events, tasks, work } = this.#parts;
    this.#heartbeatMs = session.heartbeatMs;
    const orders = await topology.declareForOrders(session);
    await session.consume(orders, { prefetch: CONTROL_PREFETCH, noAck: true }, (delivery) => control.take(delivery));
    // Nothing is held yet, so it is enough that the connection lives.
    await lease.begin(session, () => session.inspect(orders));
    events.enterGeneration(session.generation);
    await this.#knownToTheBooks(session);
    if (session.lost.aborted) return; // the next session may have begun meanwhile
    tasks
      .begin(session)
      .catch((error: unknown) =>
        log.debug({ event: "no-tasks", error: String(error) }, "the session is lost, and says why"),
      );
    work.begin(session, orders).catch((error: unknown) => session.end(`work could not be taken: ${String(error)}`));
  }

  /**
   * Takes no work before its birth stands in the state queue: otherwise the manager would conclude that nobody has what it
   * has. It waits while the broker blocks all publishes; then nothing can be concluded either. A confirm that was due while a
   * queue had no leader may never come: after a while all that is open is sent again through another connection.
   */
  async #knownToTheBooks({ lost }: Session): Promise<void> {
    const { voice, publisher, log } = this.#parts;
    const confirmed = new Promise<void>((resolve) => voice.tell(voice.introduction(), resolve));
    const enough = new AbortController();
    const known = Promise.race([confirmed, publisher.blocked(enough.signal), untilAborted(lost)]);
    for (let waitedMs = BIRTH_LIMIT_MS; !(await within(waitedMs, known)); waitedMs *= 2) {
      log.warn(
        { event: "birth-not-confirmed", waitedMs, publisher: publisher.status },
        "takes no work yet: the broker has not confirmed this service's registration with the manager; it is sent again",
      );
      publisher.startOver(`a birth was not confirmed within ${waitedMs} ms`);
    }
    enough.abort();
  }

  #lost(generation: number, reason: LossReason): Promise<void> {
    const { voice, work, tasks, lease } = this.#parts;
    // A failed set-up is over once the birth that would report it is sent, and must not hide an earlier loss.
    if (reason.kind !== "setup-failed") voice.lastLoss = reason;
    work.lost();
    tasks.sessionLost();
    return lease.sessionLost(generation, reason);
  }
}
