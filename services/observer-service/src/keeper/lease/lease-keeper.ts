import { type LossReason, QueueMissingError, type Session } from "@unacked/broker";
import type { Log } from "../../log.ts";
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

/** Losses that leave the session standing, and the reason that it is then ended with. */
const SESSION_ENDS: Partial<Record<LeaseLoss, string>> = {
  "deadline-passed": "the lease's deadline has passed",
  "taken-back": "the broker has given its messages to others, or holds them for it no more",
};

/** Resolves when the broker has answered something that it can only answer while it keeps our messages from others. */
export type Proof = () => Promise<unknown>;

/** What the lease keeper needs of the runs. */
export interface FencedRuns {
  /** Aborts every run with `lease-lost`. */
  fence(): void;
  /** The names of observers whose handler still runs although its generation, or an earlier one, is fenced. */
  unsettled(generation: number): string[];
  /** Resolves when `unsettled` is empty. */
  settled(generation: number): Promise<void>;
  /** Surely ends the handlers that `unsettled` names. False means that only the end of this process does. */
  endForCertain(generation: number): boolean;
  /**
   * Until when they may go on, in ms of `performance.now()`, and what a handler has after that. Undefined means that nothing
   * runs. Handlers in processes of their own keep to it by themselves, even while this process is frozen.
   */
  heldUntil(deadlineMs: number | undefined, graceMs: number): void;
}

/** Observers and tasks share one lease, as it is the connection's. */
export const fencedTogether = (runs: FencedRuns, tasks: Omit<FencedRuns, "heldUntil">): FencedRuns => ({
  fence() {
    runs.fence();
    tasks.fence();
  },
  unsettled: (generation) => [...runs.unsettled(generation), ...tasks.unsettled(generation)],
  async settled(generation) {
    await Promise.all([runs.settled(generation), tasks.settled(generation)]);
  },
  endForCertain(generation) {
    const ends = [runs, tasks].filter((each) => each.unsettled(generation).length > 0);
    return ends.map((each) => each.endForCertain(generation)).every(Boolean);
  },
  heldUntil: (deadlineMs, graceMs) => runs.heldUntil(deadlineMs, graceMs),
});

/** The answer to a proof of life: when that was sent, by `performance.now()`, and how long the answer took. */
export interface ProofAnswer {
  readonly sentAtMs: number;
  readonly tookMs: number;
  readonly heartbeatMs: number;
}

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
  #proof: Proof | undefined;
  #proofTimer: NodeJS.Timeout | undefined;
  #deadlineTimer: NodeJS.Timeout | undefined;
  /** The session whose proof is under way. */
  #proving: Session | undefined;
  /** Whether the last proof was answered. After a refusal the next one waits for its time. */
  #mayHurry = true;

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
    this.#proof = proof;
    this.#mayHurry = true;
    this.#lease = grantLease(session.generation, session.heartbeatMs, sentAtMs);
    this.#armDeadline();
    this.#armProof(session);
  }

  /** From its next proof on, this proof holds the session's lease. */
  proveBy(session: Session, proof: Proof): void {
    if (this.#session === session) this.#proof = proof;
  }

  /** Proves at once, unless a proof is under way, the last one was refused, or nothing is held. */
  proveNow(): void {
    const session = this.#session;
    if (session === undefined || this.#proving === session || !this.#mayHurry || !this.held) return;
    clearTimeout(this.#proofTimer);
    void this.#prove(session);
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

  #armProof(session: Session): void {
    const lease = this.#lease;
    if (lease === undefined || lease.lost !== undefined || this.#session !== session) return;
    this.#proofTimer = setTimeout(() => void this.#prove(session), proofIntervalMs(lease));
  }

  async #prove(session: Session): Promise<void> {
    const sentAtMs = this.#nowMs();
    this.#proving = session;
    let isQueueGone = false;
    const answered = await this.#proof?.().then(
      () => true,
      // A loss of the session is reported elsewhere, and a proof without an answer shows at the deadline.
      (error: unknown) => {
        isQueueGone = error instanceof QueueMissingError;
        return false;
      },
    );
    if (this.#proving === session) this.#proving = undefined;
    if (this.#session !== session) return;
    // It does not wait for the deadline: by then the queue may have been declared again, and would answer without holding our messages.
    if (isQueueGone) this.takenBack(session.generation);
    this.#checkDeadline();
    const lease = this.#lease;
    if (lease === undefined || lease.lost !== undefined) return;
    this.#mayHurry = answered === true;
    if (answered) this.#lease = renewLease(lease, sentAtMs);
    this.#armDeadline();
    this.#armProof(session);
    const { heartbeatMs } = lease;
    if (answered) this.#parts.onAnswer?.({ sentAtMs, tookMs: this.#nowMs() - sentAtMs, heartbeatMs });
  }

  #stopTimers(): void {
    clearTimeout(this.#proofTimer);
    clearTimeout(this.#deadlineTimer);
  }
}
