import type { Session } from "@unacked/broker";
import { workQueueName } from "@unacked/contracts";
import type { Log } from "../../log.ts";
import type { ServiceIdentity } from "../identity.ts";
import type { LeaseKeeper } from "../lease/lease-keeper.ts";
import type { Topology } from "./declare-topology.ts";
import type { GivenBack } from "./given-back.ts";
import type { Intake } from "./intake.ts";
import type { WorkConsumer } from "./work-consumer.ts";

export interface WorkQueueParts {
  readonly identity: ServiceIdentity;
  readonly topology: Pick<Topology, "untilWorkQueueIsThere">;
  readonly consumer: Pick<WorkConsumer, "begin" | "lost" | "flushed">;
  readonly intake: Pick<Intake, "noteMarker">;
  readonly givenBack: Pick<GivenBack, "remember">;
  readonly proveBy: LeaseKeeper["proveBy"];
  /** Whether it drains, and nothing is left here. */
  readonly isDrained: () => boolean;
  readonly log: Log;
}

/**
 * The pool's work queue, as this service uses it in a session: it waits for it, takes from it, and proves its life by it. A lost session
 * leaves nothing behind.
 */
export class WorkQueue {
  readonly #parts: WorkQueueParts;
  /** The last proof of life that asked the work queue. Until it is answered it may hold a message. */
  #reaching: Promise<unknown> = Promise.resolve();
  /** The session in which work is taken, once the queue exists. */
  #takingIn: Session | undefined;

  constructor(parts: WorkQueueParts) {
    this.#parts = parts;
  }

  /**
   * Behind the introduction, by which a manager learns for which pool it has to declare a queue. Not awaited by the session's set-up, which has a time
   * limit: the queue's node may be down for hours, and tasks run meanwhile. Rejects when the session is lost.
   *
   * @param orders the queue by which life is proven while nothing is held here
   */
  async begin(session: Session, orders: string): Promise<void> {
    const { identity, log, topology, proveBy, consumer, isDrained } = this.#parts;
    const queue = await topology.untilWorkQueueIsThere(session, (missing, { detail, remedy }) =>
      log.warn(
        { event: "waiting-for-queue", queue: missing, detail, remedy },
        "the work queue is not available; waiting for it",
      ),
    );
    if (session.lost.aborted) return;
    await consumer.begin(session, queue);
    if (session.lost.aborted) return;
    this.#takingIn = session;
    // From now on the proof reaches the queue itself: if its nodes are cut from each other, the broker gives our messages to others.
    proveBy(session, () => {
      this.#reaching = isDrained() ? session.inspect(orders) : this.#reach(session, queue);
      return this.#reaching;
    });
    log.info(
      { event: "consuming", generation: session.generation, queue, workers: identity.workerCount },
      "taking observers",
    );
  }

  /** The session is gone. */
  lost(): void {
    this.#parts.consumer.lost();
    this.#takingIn = undefined;
    this.#reaching = Promise.resolve();
  }

  /** Resolves when everything that was delivered has come in. */
  async flushed(): Promise<void> {
    await Promise.all([this.#parts.consumer.flushed(), this.#reaching]);
  }

  /**
   * Looks at what waits in the queue, and at its consumers. Rejects while nothing can be taken: for a queue that does not exist the
   * question would end the session.
   */
  look(): Promise<{ messageCount: number; consumerCount: number }> {
    if (this.#takingIn === undefined) return Promise.reject(new Error("no work is taken"));
    return this.#takingIn.inspect(workQueueName(this.#parts.identity.pool));
  }

  /**
   * The proof may be given a message that no worker is free for. A marker is reported; of any other message the observer is noted, and it
   * goes back.
   */
  #reach(session: Session, queue: string): Promise<void> {
    const { intake, givenBack } = this.#parts;
    return session.reach(queue, ({ body, type }) => {
      if (type === "QueueMarker" && intake.noteMarker(body)) return "ack";
      givenBack.remember(body, performance.now());
      return "requeue";
    });
  }
}
