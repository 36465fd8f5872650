import type { Consumer, Delivery, Session } from "@unacked/broker";
import type { Log } from "../../log.ts";
import { type Appetite, type Circumstances, decide, isSettled, roomFor } from "./appetite.ts";

export interface WorkConsumerParts {
  /** The prefetch, and the most that is taken. */
  readonly workers: number;
  readonly running: () => number;
  /** What decides how much is taken beside `workers`; undefined: nothing does. */
  readonly memory: ((isSettled: boolean) => Pick<Circumstances, "costBytes" | "memory">) | undefined;
  /** Lets what runs here give back memory that it does not need. */
  readonly collect: () => void;
  readonly onDelivery: (delivery: Delivery) => void;
  /** It consumes, or does no more; called when that changes under way. */
  readonly onChange: () => void;
  readonly log: Log;
}

const LOOK_MS = 500;

/**
 * Consumes the work queue, on one channel a session. Under `WORKER_COUNT=auto` no more than memory has room for: then its consumer is
 * cancelled, what it holds stays held, and it consumes again when there is room. A crash leaves all of it to the broker.
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
  #isOver = false;

  constructor(parts: WorkConsumerParts) {
    this.#parts = parts;
  }

  /** Consumes as much as there is room for, which may be nothing yet. */
  async begin(session: Session, queue: string): Promise<void> {
    this.#session = { session, queue };
    this.#appetite = { kind: "none" };
    if (this.#parts.memory === undefined) return this.#take({ window: this.#parts.workers, isWhole: true });
    await this.#look();
    if (!session.lost.aborted) this.#looking = setInterval(() => void this.#look().catch(() => undefined), LOOK_MS); // a lost session is told by itself
  }

  /** The session is gone. */
  lost(): void {
    clearInterval(this.#looking);
    this.#session = undefined;
    this.#isChanging = false;
    this.#asked = undefined;
    this.#consumer = undefined;
  }

  /** For good. */
  async cancel(): Promise<void> {
    this.#isOver = true;
    clearInterval(this.#looking);
    await (await this.#asked)?.cancel();
  }

  get isConsuming(): boolean {
    return this.#consumer !== undefined && this.#appetite.kind === "taking" && !this.#isOver;
  }

  /** Why it takes nothing although it has workers free; undefined: it does, or that is not why. */
  get pausedFor(): string | undefined {
    return this.#appetite.kind === "paused" && !this.#isOver ? this.#appetite.why : undefined;
  }

  /** For how many more there is room now. */
  get room(): number {
    return this.#appetite.kind === "paused" || this.#isOver ? 0 : roomFor(this.#circumstances());
  }

  /** Resolves when what the broker has sent until now has come in. Rejects when the session is lost. */
  async flushed(): Promise<void> {
    await (await this.#asked)?.flushed();
  }

  #circumstances(): Circumstances {
    const { workers, running, memory } = this.#parts;
    const now = memory?.(isSettled(this.#appetite, performance.now())) ?? { costBytes: 0, memory: [] };
    return { workers, running: running(), ...now };
  }

  async #look(): Promise<void> {
    if (this.#isChanging || this.#isOver || this.#session === undefined) return;
    // What has ended has left garbage, which would look like memory in use.
    if (this.pausedFor !== undefined && this.#parts.running() < this.#runningWhenCollected) return this.#collect();
    const decision = decide(this.#appetite, this.#circumstances(), performance.now());
    if (decision === undefined) return;
    if (decision.kind === "pause") return this.#pause(decision.why);
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
    const wasPaused = this.pausedFor !== undefined;
    this.#appetite = { kind: "taking", window, isWhole, taken: 0, lastTakenAtMs: performance.now() };
    if (wasPaused) this.#parts.log.info({ event: "intake-resumed", window }, "there is room again: observers are taken");
    if (this.#consumer !== undefined) await this.#consumer.resume(window);
    else await this.#consume(window);
    if (wasPaused) this.#parts.onChange();
  }

  async #consume(prefetch: number): Promise<void> {
    const { session, queue } = this.#session ?? {};
    if (session === undefined || queue === undefined) return;
    this.#asked = session.consume(queue, { prefetch }, (delivery) => this.#given(delivery));
    const consumer = await this.#asked;
    if (session.lost.aborted) return;
    this.#consumer = consumer;
    if (this.#isOver) await consumer.cancel();
  }

  #given(delivery: Delivery): void {
    const appetite = this.#appetite;
    if (appetite.kind === "taking")
      this.#appetite = { ...appetite, taken: appetite.taken + 1, lastTakenAtMs: performance.now() };
    this.#parts.onDelivery(delivery);
  }
}
