/**
 * The right to run what a generation was given, as a small machine with the time as an argument (ms of a monotonic clock).
 *
 * The broker gives the messages of a silent client away no sooner than 2 × heartbeat after it last heard of it (it checks
 * twice per interval). So a service that has proven to be alive at time t may go on until t + 1.5 × heartbeat, and has another
 * 0.4 × heartbeat to stop. `t` is when the answered proof was *sent*: the broker cannot have seen it earlier.
 */
export interface Lease {
  readonly generation: number;
  readonly heartbeatMs: number;
  /** When the last answered proof of life was sent. */
  readonly provenAtMs: number;
  /** When it was lost. It never comes back: a new generation has a new lease. */
  readonly lost?: { atMs: number; why: LeaseLoss };
}

/** `taken-back`: the broker gave the messages to others, or lost them with their queue, while the session goes on unchanged. */
export type LeaseLoss = "deadline-passed" | "session-lost" | "taken-back" | "process-failed";

const DEADLINE_HEARTBEATS = 1.5;
const GRACE_HEARTBEATS = 0.4;
const SLOT_GRACE_HEARTBEATS = 0.3;
const LEAST_GRACE_HEARTBEATS = 0.1;
const PROOF_HEARTBEATS = 1 / 3;

export function grantLease(generation: number, heartbeatMs: number, provenAtMs: number): Lease {
  return { generation, heartbeatMs, provenAtMs };
}

/** A proof that was sent at `sentAtMs` was answered. Answers may come out of order. */
export function renewLease(lease: Lease, sentAtMs: number): Lease {
  return { ...lease, provenAtMs: Math.max(lease.provenAtMs, sentAtMs) };
}

export const deadlineMs = (lease: Lease): number => lease.provenAtMs + DEADLINE_HEARTBEATS * lease.heartbeatMs;

/** How long to wait between two proofs: three fit into the time to the deadline, with room for a slow answer. */
export const proofIntervalMs = (lease: Lease): number => PROOF_HEARTBEATS * lease.heartbeatMs;

/**
 * How long a slot lets its handlers go on after a deadline that its keeper, perhaps frozen, did not move. The slot ends before the
 * process would.
 */
export const slotGraceMs = (lease: Lease): number => SLOT_GRACE_HEARTBEATS * lease.heartbeatMs;

export const isPastDeadline = (lease: Lease, nowMs: number): boolean => nowMs >= deadlineMs(lease);

/** Whether anything may be started, acked or claimed under this lease. */
export const isHeld = (lease: Lease | undefined, nowMs: number): boolean =>
  lease !== undefined && lease.lost === undefined && !isPastDeadline(lease, nowMs);

export function loseLease(lease: Lease, why: LeaseLoss, nowMs: number): Lease {
  return lease.lost === undefined ? { ...lease, lost: { atMs: nowMs, why } } : lease;
}

/**
 * When the process must end if a handler still runs. After a missed deadline this counts from the deadline, as the broker's
 * patience does. A process that slept through it still gets a short moment, which is enough for most handlers.
 */
export function exitAtMs(lease: Lease): number {
  if (lease.lost === undefined) return Number.POSITIVE_INFINITY;
  const graceMs = GRACE_HEARTBEATS * lease.heartbeatMs;
  switch (lease.lost.why) {
    case "deadline-passed":
      return Math.max(deadlineMs(lease) + graceMs, lease.lost.atMs + LEAST_GRACE_HEARTBEATS * lease.heartbeatMs);
    case "session-lost":
    case "taken-back":
    case "process-failed":
      return lease.lost.atMs + graceMs;
    default:
      return lease.lost.why satisfies never;
  }
}
