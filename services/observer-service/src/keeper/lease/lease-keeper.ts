import type { LossReason, Session } from "@unacked/broker";
import type { Log } from "../../log.ts";
import type { FencedRuns } from "./fenced-runs.ts";
import {
  deadlineMs,
  exitAtMs,
  grantLease,
  isHeld,
  isPastDeadline,
  type Lease,
  type LeaseLoss,
  loseLease,
  proofIntervalMs,
  renewLease,
  slotGraceMs,
} from "./lease.ts";
import { type Proof, type ProofAnswer, type ProofEnd, Proofs } from "./proofs.ts";

/** Losses that leave the session standing, and the reason that it is then ended with. */
const SESSION_ENDS: Partial<Record<LeaseLoss, string>> = {
  "deadline-passed": "the lease's deadline has passed",
  "taken-back": "the broker has given its messages to others, or holds them for it no more",
};

export interface LeaseKeeperParts {
  readonly runs: FencedRuns;
  readonly log: Log;
  readonly exit: (code: number) => void;
  readonly onLost?: (why: LeaseLoss) => void;
  readonly onAnswer?: (answer: ProofAnswer) => void;
  /** Returns ms of a monotonic clock. */
  readonly nowMs?: () => number;
}

/**
 * Proves to the broker that this process lives, and fences the runs when it cannot. Receives sessions, their losses, and the
 * time. Guarantees: no start, ack or claim after the deadline; every run aborted at once when the lease is lost; the process
 * ends if a handler still runs 0.4 heartbeats later. A crash in the middle is what the broker waits for anyway.
 */
export class LeaseKeeper {
  readonly #parts: LeaseKeeperParts;
  readonly #nowMs: () => number;
  #lease: Lease | undefined;
  #session: Session | undefined;
  #proofs: Proofs | undefined;
  #deadlineTimer: NodeJS.Timeout | undefined;

  constructor(parts: LeaseKeeperParts) {
    this.#parts = parts;
    this.#nowMs = parts.nowMs ?? (() => performance.now());
  }

  /** Proves life once, then holds the lease of this session's generation, by this proof again and again, until it is lost. */
  async begin(session: Session, proof: Proof): Promise<void> {
    const sentAtMs = this.#nowMs();
    await proof();
    this.#stopTimers();
    this.#session = session;
    const lease = grantLease(session.generation, session.heartbeatMs, sentAtMs);
    this.#lease = lease;
    this.#armDeadline();
    this.#proofs = new Proofs(proof, {
      everyMs: proofIntervalMs(lease),
      nowMs: this.#nowMs,
      onEnd: (end) => this.#proven(session, end),
    });
  }

  /** From its next proof on, this proof holds the session's lease. */
  proveBy(session: Session, proof: Proof): void {
    if (this.#session === session) this.#proofs?.proveBy(proof);
  }

  /** Proves at once, unless a proof is under way, the last one was refused, or nothing is held. */
  proveNow(): void {
    if (this.held) this.#proofs?.hurry();
  }

  /** Must be asked before anything is started, acked or claimed: after a blocked event loop this fences first. */
  holds(generation: number): boolean {
    this.#checkDeadline();
    return this.#lease?.generation === generation && isHeld(this.#lease, this.#nowMs());
  }

  /** Whether the lease is held, for readiness. */
  get held(): boolean {
    return isHeld(this.#lease, this.#nowMs());
  }

  /** The session is gone. Resolves when none of its handlers runs any more. */
  async sessionLost(generation: number, reason: LossReason): Promise<void> {
    if (this.#lease?.generation !== generation) return;
    this.#lose("session-lost", { ...reason });
    await this.#parts.runs.settled(generation);
  }

  /**
   * The broker has taken back what it had given to this generation, or its queue is gone. The session is ended when nothing of it runs any
   * more.
   */
  takenBack(generation: number): void {
    if (this.#lease?.generation === generation) this.#lose("taken-back", {});
  }

  /** The process cannot go on, so it fences as for a lost lease. Resolves when no handler runs any more. */
  async processFailed(): Promise<void> {
    if (this.#lease === undefined) return;
    this.#lose("process-failed", {});
    await this.#parts.runs.settled(this.#lease.generation);
  }

  /** The process ends in order, so there are no more proofs, and the close of the connection does not fence. */
  retire(): void {
    this.#stopTimers();
    this.#lease = undefined;
  }

  #checkDeadline(): void {
    const lease = this.#lease;
    if (lease === undefined || lease.lost !== undefined || !isPastDeadline(lease, this.#nowMs())) return;
    this.#lose("deadline-passed", { lateMs: Math.round(this.#nowMs() - deadlineMs(lease)) });
  }

  #lose(why: LeaseLoss, fields: object): void {
    const lease = this.#lease;
    if (lease === undefined || lease.lost !== undefined) return;
    const session = this.#session;
    const lost = loseLease(lease, why, this.#nowMs());
    this.#lease = lost;
    this.#stopTimers();
    this.#parts.onLost?.(why);
    this.#parts.runs.fence();
    this.#watchFence(lost, session);
    this.#parts.log.error(
      { event: "lease-lost", why, generation: lease.generation, ...fields },
      "the lease is lost: every run is aborted",
    );
  }

  /** The session is ended only when nothing of it runs: until then the broker keeps its messages from others. */
  #watchFence(lost: Lease, session: Session | undefined): void {
    const { runs, log, exit } = this.#parts;
    const timer = setTimeout(
      () => {
        const observers = runs.unsettled(lost.generation);
        if (observers.length === 0) return;
        if (runs.endForCertain(lost.generation)) return;
        log.fatal(
          { event: "handlers-outlive-lease", observers },
          "these observers did not stop in time; only the end of this process is certain to stop them",
        );
        exit(1);
      },
      Math.max(0, exitAtMs(lost) - this.#nowMs()),
    );
    void runs.settled(lost.generation).then(() => {
      clearTimeout(timer);
      if (this.#lease === lost) runs.heldUntil(undefined, 0);
      const ending = lost.lost && SESSION_ENDS[lost.lost.why];
      if (ending !== undefined) session?.end(ending);
    });
  }

  #armDeadline(): void {
    const lease = this.#lease;
    if (lease === undefined || lease.lost !== undefined) return;
    this.#parts.runs.heldUntil(deadlineMs(lease), slotGraceMs(lease));
    clearTimeout(this.#deadlineTimer);
    this.#deadlineTimer = setTimeout(
      () => {
        this.#checkDeadline();
        // Set again, as timers may fire a millisecond early.
        this.#armDeadline();
      },
      Math.max(1, Math.ceil(deadlineMs(lease) - this.#nowMs())),
    );
  }

  #proven({ generation, heartbeatMs }: Session, { sentAtMs, isAnswered, isQueueGone }: ProofEnd): void {
    // It does not wait for the deadline: by then the queue may have been declared again, and would answer without holding our messages.
    if (isQueueGone) this.takenBack(generation);
    this.#checkDeadline();
    const lease = this.#lease;
    if (lease === undefined || lease.lost !== undefined) return;
    if (isAnswered) this.#lease = renewLease(lease, sentAtMs);
    this.#armDeadline();
    if (isAnswered) this.#parts.onAnswer?.({ sentAtMs, tookMs: this.#nowMs() - sentAtMs, heartbeatMs });
  }

  #stopTimers(): void {
    this.#proofs?.stop();
    clearTimeout(this.#deadlineTimer);
  }
}
