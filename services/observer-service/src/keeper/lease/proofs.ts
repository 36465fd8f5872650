import { QueueMissingError } from "@unacked/broker";

/** Resolves when the broker has answered something that it can only answer while it keeps our messages from others. */
export type Proof = () => Promise<unknown>;

/** The answer to a proof of life: when that was sent, by `performance.now()`, and how long the answer took. */
export interface ProofAnswer {
  readonly sentAtMs: number;
  readonly tookMs: number;
  readonly heartbeatMs: number;
}

/** How a proof has ended. A refusal says nothing about the lease, unless the queue that was asked is gone. */
export interface ProofEnd {
  readonly sentAtMs: number;
  readonly isAnswered: boolean;
  readonly isQueueGone: boolean;
}

export interface ProofsParts {
  readonly everyMs: number;
  /** Returns ms of a monotonic clock. */
  readonly nowMs: () => number;
  readonly onEnd: (end: ProofEnd) => void;
}

/** The proofs of life of one session, one at a time, each some time after the one before, until they are stopped. */
export class Proofs {
  readonly #parts: ProofsParts;
  #proof: Proof;
  #timer: NodeJS.Timeout | undefined;
  #isUnderWay = false;
  /** Whether the last proof was answered. After a refusal the next one waits for its time. */
  #mayHurry = true;
  #isStopped = false;

  /** The first one comes when its time has come. */
  constructor(proof: Proof, parts: ProofsParts) {
    this.#proof = proof;
    this.#parts = parts;
    this.#arm();
  }

  /** From the next one on, life is proven by this. */
  proveBy(proof: Proof): void {
    this.#proof = proof;
  }

  /** Proves at once, unless a proof is under way, or the last one was refused. */
  hurry(): void {
    if (this.#isUnderWay || !this.#mayHurry || this.#isStopped) return;
    clearTimeout(this.#timer);
    void this.#prove();
  }

  /** For good. The end of a proof that is under way is no longer told. */
  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  #arm(): void {
    this.#timer = setTimeout(() => void this.#prove(), this.#parts.everyMs);
  }

  async #prove(): Promise<void> {
    const sentAtMs = this.#parts.nowMs();
    this.#isUnderWay = true;
    let isQueueGone = false;
    const isAnswered = await this.#proof().then(
      () => true,
      // A loss of the session is reported elsewhere, and a proof without an answer shows at the deadline.
      (error: unknown) => {
        isQueueGone = error instanceof QueueMissingError;
        return false;
      },
    );
    this.#isUnderWay = false;
    if (this.#isStopped) return;
    this.#mayHurry = isAnswered;
    this.#arm(); // before it is told, as whoever hears of it may want the next one at once
    this.#parts.onEnd({ sentAtMs, isAnswered, isQueueGone });
  }
}
