import type { Consumer, Delivery, Session } from "@unacked/broker";
import type { Log } from "../../log.ts";
import type { ProofAnswer } from "../lease/lease-keeper.ts";
import { type Appetite, type Circumstances, decide, isSettled, roomFor } from "./appetite.ts";
import type { Caution } from "./caution.ts";

export interface WorkConsumerParts {
  /** The prefetch, and the most that is taken. */
  readonly workers: number;
  readonly running: () => number;
  /** What decides how much is taken beside `workers`; undefined: nothing does. */
  readonly memory: ((isSettled: boolean) => Pick<Circumstances, "costBytes" | "memory">) | undefined;
  readonly caution: Caution;
  /** How many have not begun, or were not told of. */
  readonly underWay: () => number;
  /** Asks the broker for an answer now. */
  readonly prove: () => void;
  /** Lets what runs here give back memory that it does not need. */
  readonly collect: () => void;
  readonly onDelivery: (delivery: Delivery) => void;
  /** It consumes, or does no more; called when that changes under way. */
  readonly onChange: () => void;
  readonly log: Log;
}

/** Why nothing is taken although there is room: it drains, is cordoned, or leaves what is shed to others. */
export type Closer = "drain" | "cordon" | "shed";

const AWAITS_ANSWER =
  "it could not prove in time that it lives: it takes a few at once, and more when the broker has answered";
const TOLD_AFTER_MS = 1_000;
const LOOK_MS = 500;
/** Where no memory has to be measured first. */
const LOOK_AT_WORKERS_MS = 100;

/**
 * Consumes the work queue, on one channel a session. While it is closed, and under `WORKER_COUNT=auto` while memory has no room, its
 * consumer is cancelled, what it holds stays held, and then it consumes again. A crash leaves all of it to the broker.
 */
export class WorkConsumer {
  readonly #parts: WorkConsumerParts;
  #appetite: Appetite = { kind: "none" };
  #session: { session: Session; queue: string } | undefined;
  /** From the moment on when it was asked for. */
  #asked: Promise<Consumer> | undefined;
  #consumer: Consumer | undefined;
  #looking: NodeJS.Timeout | undefined;
  #isChanging = false;
  /** When memory was given back last. */
  #runningWhenCollected = 0;
  readonly #closers = new Set<Closer>();

  constructor(parts: WorkConsumerParts) {
    this.#parts = parts;
  }

  /** Consumes as much as there is room for, which may be nothing yet. */
  async begin(session: Session, queue: string): Promise<void> {
    this.#session = { session, queue };
    this.#parts.caution.begin(0, performance.now());
    const isFirst = !this.#isClosed && this.#parts.running() === 0;
    if (isFirst && this.#parts.memory === undefined && this.#care === undefined)
      return this.#change({ window: this.#parts.workers, isWhole: true });
    await this.#look();
    this.#keepLooking(session);
  }

  /** A consumer that comes after another counts what it is given itself alone: as runs of the other end, it has to be given more. */
  #keepLooking(session: Session): void {
    if (session.lost.aborted || this.#looking !== undefined) return;
    const everyMs = this.#parts.memory === undefined ? LOOK_AT_WORKERS_MS : LOOK_MS;
    this.#looking = setInterval(() => void this.#look().catch(() => undefined), everyMs); // a lost session is told by itself
  }

  /** Nothing is taken from now on; resolves when the broker gives nothing more. */
  async close(why: Closer): Promise<void> {
    this.#closers.add(why);
    await this.#asked;
    if (this.#isClosed) await this.#consumer?.pause();
  }

  /** Takes again, unless it is closed for something else. */
  async open(why: Closer): Promise<void> {
    if (!this.#closers.delete(why) || this.#isClosed || this.#session === undefined) return;
    this.#appetite = { kind: "none" };
    await this.#look();
    this.#keepLooking(this.#session.session);
  }

  get #isClosed(): boolean {
    return this.#closers.size > 0;
  }

  /** Until somebody takes that back; what is shed keeps it for a moment only. */
  get #isClosedForLong(): boolean {
    return this.#closers.has("drain") || this.#closers.has("cordon");
  }

  /** It takes nothing at the moment, and will again by itself: it is aside, or has no worker free. */
  get isResting(): boolean {
    const { running, workers } = this.#parts;
    if (this.#session === undefined || this.#isClosedForLong || this.isConsuming) return false;
    return this.#isClosed || running() >= workers;
  }

  /** The session is gone. */
  lost(): void {
    clearInterval(this.#looking);
    this.#looking = undefined;
    this.#session = undefined;
    this.#appetite = { kind: "none" };
    this.#isChanging = false;
    this.#asked = undefined;
    this.#consumer = undefined;
  }

  get isConsuming(): boolean {
    return this.#consumer !== undefined && this.#appetite.kind === "taking" && !this.#isClosed && !this.#awaitsAnswer;
  }

  /** Why it takes nothing although it has workers free; undefined: it does, or that is not why. */
  get pausedFor(): string | undefined {
    if (this.#isClosed) return undefined;
    if (this.#awaitsAnswer) return AWAITS_ANSWER;
    return this.#appetite.kind === "paused" ? this.#appetite.why : undefined;
  }

  /** The broker has answered a proof of life. */
  answered(answer: ProofAnswer): void {
    if (this.#parts.caution.answered(answer)) void this.#look().catch(() => undefined); // a lost session is told by itself
  }

  /** For memory. */
  get #isPaused(): boolean {
    return this.#appetite.kind === "paused" && !this.#isClosed;
  }

  get #care(): Circumstances["care"] {
    const { caution } = this.#parts;
    const window = caution.size(performance.now());
    return window === undefined ? undefined : { window, mayGoOn: caution.mayGoOn };
  }

  /** For so long that it is worth telling. */
  get #awaitsAnswer(): boolean {
    const { caution, running, workers } = this.#parts;
    return running() < workers && caution.waitsMs(performance.now()) >= TOLD_AFTER_MS;
  }

  /** For how many more there is room now. */
  get room(): number {
    return this.#appetite.kind === "paused" || this.#isClosedForLong ? 0 : roomFor(this.#circumstances());
  }

  /** Resolves when what the broker has sent until now has come in. Rejects when the session is lost. */
  async flushed(): Promise<void> {
    await (await this.#asked)?.flushed();
  }

  #circumstances(): Circumstances {
    const { workers, running, memory } = this.#parts;
    const now = memory?.(isSettled(this.#appetite, performance.now())) ?? { costBytes: 0, memory: [] };
    return { workers, running: running(), care: this.#care, ...now };
  }

  async #look(): Promise<void> {
    if (this.#isChanging || this.#isClosed || this.#session === undefined) return;
    // What has ended has left garbage, which would look like memory in use.
    if (this.#isPaused && this.#parts.running() < this.#runningWhenCollected) return this.#collect();
    this.#lookWithCare();
    const decision = decide(this.#appetite, this.#circumstances(), performance.now());
    if (decision === undefined) return;
    if (decision.kind === "pause") return this.#pause(decision.why);
    await this.#change(decision);
  }

  #lookWithCare(): void {
    const { caution, underWay, prove } = this.#parts;
    const appetite = this.#appetite;
    const isSpent = appetite.kind === "taking" && !appetite.isWhole && appetite.taken >= appetite.window;
    if (caution.look({ isSpent, underWay }, performance.now())) prove();
  }

  /** One at a time: two would be two consumers. */
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
    void this.#consumer?.pause().catch(() => undefined); // a lost session is told by itself
    this.#collect();
    onChange();
  }

  /** Looks again when it has been done. */
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
    if (this.#consumer !== undefined) await this.#resume(this.#consumer, window);
    else await this.#consume(window);
    if (this.#isClosed) await this.#consumer?.pause(); // meanwhile
    if (wasPaused) this.#parts.onChange();
  }

  /** No more than there are workers free once nothing comes any more: the one before may have been given something meanwhile. */
  async #resume(consumer: Consumer, window: number): Promise<void> {
    await consumer.pause();
    const free = this.#parts.workers - this.#parts.running();
    if (free > 0) await consumer.resume(Math.min(window, free));
    else this.#appetite = { kind: "none" };
  }

  async #consume(prefetch: number): Promise<void> {
    const { session, queue } = this.#session ?? {};
    if (session === undefined || queue === undefined) return;
    this.#asked = session.consume(queue, { prefetch }, (delivery) => this.#given(delivery));
    const consumer = await this.#asked;
    if (session.lost.aborted) return;
    this.#consumer = consumer;
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
