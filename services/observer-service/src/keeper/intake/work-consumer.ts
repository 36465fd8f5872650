import type { Delivery, Session } from "@unacked/broker";
import type { Log } from "../../log.ts";
import type { ProofAnswer } from "../lease/proofs.ts";
import { type Appetite, decide, roomFor } from "./appetite.ts";
import { Lookout, type LookoutParts } from "./lookout.ts";
import { Subscription } from "./subscription.ts";

export interface WorkConsumerParts extends LookoutParts {
  /** Makes the handlers' processes give back memory that they do not need. */
  readonly collect: () => void;
  readonly onDelivery: (delivery: Delivery) => void;
  /** Called when it begins, or ends, to consume on its own. */
  readonly onChange: () => void;
  readonly log: Log;
}

/** Why nothing is taken although there is room: the service drains, is cordoned, or leaves what is shed to others. */
export type Closer = "drain" | "cordon" | "shed";

const AWAITS_ANSWER =
  "it could not prove in time that it lives: it takes a few at once, and more when the broker has answered";
const LOOK_MS = 500;
/** How often it looks if no memory has to be measured first. */
const LOOK_AT_WORKERS_MS = 100;

/**
 * Consumes the work queue, on one channel a session. While it is closed, and under `WORKER_COUNT=auto` while memory has no room, its
 * consumer is cancelled. What it holds stays held, and later it consumes again. A crash leaves all of it to the broker.
 */
export class WorkConsumer {
  readonly #parts: WorkConsumerParts;
  readonly #lookout: Lookout;
  #appetite: Appetite = { kind: "none" };
  /** Undefined means that there is no session. */
  #subscription: Subscription | undefined;
  #looking: NodeJS.Timeout | undefined;
  #isChanging = false;
  /** How many ran when memory was last collected. */
  #runningWhenCollected = 0;
  readonly #closers = new Set<Closer>();

  constructor(parts: WorkConsumerParts) {
    this.#parts = parts;
    this.#lookout = new Lookout(parts);
  }

  /** Consumes as much as there is room for, which may be nothing yet. */
  async begin(session: Session, queue: string): Promise<void> {
    this.#subscription = new Subscription(session, queue, (delivery) => this.#given(delivery));
    this.#parts.caution.begin(0, performance.now());
    const isFirst = !this.#isClosed && this.#parts.running() === 0;
    if (isFirst && this.#lookout.isUnbounded) return this.#change({ window: this.#parts.workers, isWhole: true });
    await this.#look();
    this.#keepLooking(session);
  }

  /**
   * A consumer that follows another counts only what it was given itself: when runs of the earlier one end, it has to be given more.
   */
  #keepLooking(session: Session): void {
    if (session.lost.aborted || this.#looking !== undefined) return;
    const everyMs = this.#parts.memory === undefined ? LOOK_AT_WORKERS_MS : LOOK_MS;
    this.#looking = setInterval(() => void this.#look().catch(() => undefined), everyMs); // the loss of the session is reported elsewhere
  }

  /** Takes nothing from now on. Resolves when the broker gives nothing more. */
  async close(why: Closer): Promise<void> {
    this.#closers.add(why);
    await this.#subscription?.asked();
    if (this.#isClosed) await this.#subscription?.pause();
  }

  /** Takes again, unless it is closed for another reason. */
  async open(why: Closer): Promise<void> {
    if (!this.#closers.delete(why) || this.#isClosed || this.#subscription === undefined) return;
    const { session } = this.#subscription; // it may be lost meanwhile
    this.#appetite = { kind: "none" };
    await this.#look();
    this.#keepLooking(session);
  }

  get #isClosed(): boolean {
    return this.#closers.size > 0;
  }

  /** Whether it is closed until somebody opens it. For what is shed it closes only for a moment. */
  get #isClosedForLong(): boolean {
    return this.#closers.has("drain") || this.#closers.has("cordon");
  }

  /** Whether it takes nothing now, but will again by itself: it steps aside, or has no free worker. */
  get isResting(): boolean {
    if (this.#subscription === undefined || this.#isClosedForLong || this.isConsuming) return false;
    return this.#isClosed || this.#lookout.freeWorkers <= 0;
  }

  /** The session is gone. */
  lost(): void {
    clearInterval(this.#looking);
    this.#looking = undefined;
    this.#subscription = undefined;
    this.#appetite = { kind: "none" };
    this.#isChanging = false;
  }

  get isConsuming(): boolean {
    const isTaking = this.#subscription?.hasBegun === true && this.#appetite.kind === "taking";
    return isTaking && !this.#isClosed && !this.#lookout.awaitsAnswer;
  }

  /** Why it takes nothing although it has free workers. Undefined if it does take, or has another reason. */
  get pausedFor(): string | undefined {
    if (this.#isClosed) return undefined;
    if (this.#lookout.awaitsAnswer) return AWAITS_ANSWER;
    return this.#appetite.kind === "paused" ? this.#appetite.why : undefined;
  }

  /** The broker has answered a proof of life. */
  answered(answer: ProofAnswer): void {
    if (this.#parts.caution.answered(answer)) void this.#look().catch(() => undefined); // the loss of the session is reported elsewhere
  }

  /** Whether it is paused for lack of memory. */
  get #isPaused(): boolean {
    return this.#appetite.kind === "paused" && !this.#isClosed;
  }

  /** How many more there is room for now. */
  get room(): number {
    return this.#appetite.kind === "paused" || this.#isClosedForLong
      ? 0
      : roomFor(this.#lookout.circumstances(this.#appetite));
  }

  /** Resolves when everything that the broker has sent until now has come in. Rejects when the session is lost. */
  async flushed(): Promise<void> {
    await this.#subscription?.flushed();
  }

  async #look(): Promise<void> {
    if (this.#isChanging || this.#isClosed || this.#subscription === undefined) return;
    // Runs that have ended have left garbage, which would look like memory in use.
    if (this.#isPaused && this.#parts.running() < this.#runningWhenCollected) return this.#collect();
    this.#lookout.look(this.#appetite);
    const decision = decide(this.#appetite, this.#lookout.circumstances(this.#appetite), performance.now());
    if (decision === undefined) return;
    if (decision.kind === "pause") return this.#pause(decision.why);
    await this.#change(decision);
  }

  /** Changes run one at a time: two at once would make two consumers. */
  async #change(decision: { window: number; isWhole: boolean }): Promise<void> {
    this.#isChanging = true;
    try {
      await this.#take(decision);
    } finally {
      this.#isChanging = false;
    }
  }

  #pause(why: string): void {
    const { log, running, onChange } = this.#parts;
    log.warn({ event: "intake-paused", why, running: running() }, "nothing is taken for now; what runs goes on");
    this.#appetite = { kind: "paused", sinceMs: performance.now(), why };
    void this.#subscription?.pause().catch(() => undefined); // the loss of the session is reported elsewhere
    this.#collect();
    onChange();
  }

  /** Looks again when memory has been collected. */
  #collect(): void {
    const { running, collect } = this.#parts;
    this.#runningWhenCollected = running();
    collect();
    if (this.#appetite.kind === "paused") this.#appetite = { ...this.#appetite, sinceMs: performance.now() };
  }

  async #take({ window, isWhole }: { window: number; isWhole: boolean }): Promise<void> {
    const wasPaused = this.#isPaused;
    this.#appetite = { kind: "taking", window, isWhole, taken: 0, lastTakenAtMs: performance.now() };
    this.#parts.caution.begin(window, performance.now());
    if (wasPaused) this.#parts.log.info({ event: "intake-resumed", window }, "there is room again: observers are taken");
    const subscription = this.#subscription;
    if (subscription?.hasBegun) await this.#resume(subscription, window);
    else await subscription?.begin(window);
    if (this.#isClosed) await this.#subscription?.pause(); // it was closed meanwhile
    if (wasPaused) this.#parts.onChange();
  }

  /**
   * Takes no more than there are free workers once the old consumer gets nothing more: it may have been given something
   * meanwhile.
   */
  async #resume(subscription: Subscription, window: number): Promise<void> {
    await subscription.pause();
    const free = this.#lookout.freeWorkers;
    if (free > 0) await subscription.resume(Math.min(window, free));
    else this.#appetite = { kind: "none" };
  }

  #given(delivery: Delivery): void {
    const appetite = this.#appetite;
    if (appetite.kind === "taking") {
      const { kind, window, isWhole, taken } = appetite;
      this.#appetite = { kind, window, isWhole, taken: taken + 1, lastTakenAtMs: performance.now() };
    }
    this.#parts.onDelivery(delivery);
  }
}
