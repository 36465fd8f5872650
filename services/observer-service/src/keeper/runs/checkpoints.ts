import type { Checkpoint, CheckpointSaved, ServiceEvent } from "@unacked/contracts";
import { ObserverStopped } from "@unacked/sdk";
import { type LiveRun, newestOf } from "./live-run.ts";

export interface CheckpointsParts {
  readonly events: { tell(event: ServiceEvent, onConfirmed?: () => void): void };
  /** Whether the lease of that generation is held. */
  readonly holds: (generation: number) => boolean;
  /** How much all runs of this service together may save in a second. It bounds what waits for a database that is away. */
  readonly bytesPerS: number;
}

/** About how many bytes an event has beside the checkpoint itself. */
const ENVELOPE_BYTES = 400;

interface Waiting {
  readonly run: LiveRun;
  readonly json: string;
  resolve(): void;
  reject(error: Error): void;
}

/**
 * Receives the checkpoints of runs, in their order, one of each run at a time. Guarantees: each is sent before any end of its run,
 * and resolves when the broker has confirmed it and the lease is still held. What waits is bounded by the runs. A crash loses what
 * was not confirmed, which nobody was told to be saved.
 */
export class Checkpoints {
  readonly #parts: CheckpointsParts;
  readonly #waiting = new Map<LiveRun, Waiting[]>();
  #timer: NodeJS.Timeout | undefined;
  /** How many bytes may be sent now; negative after too many were sent. */
  #bytes: number;
  #countedAtMs = performance.now();

  constructor(parts: CheckpointsParts) {
    this.#parts = parts;
    this.#bytes = parts.bytesPerS;
  }

  save(run: LiveRun, json: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiting: Waiting = { run, json, resolve, reject };
      const others = this.#waiting.get(run);
      if (others === undefined) this.#waiting.set(run, [waiting]);
      else others.push(waiting);
      this.#pump();
    });
  }

  /** Sends what a run has saved, as its end is about to be sent. */
  flush(run: LiveRun): void {
    const all = this.#waiting.get(run) ?? [];
    this.#waiting.delete(run);
    for (const one of all) this.#tell(one);
  }

  /** Sends it again, as the database lacks it. */
  tellAgain(run: LiveRun): void {
    const newest = newestOf(run);
    if (newest !== undefined && run.fencingToken !== undefined)
      this.#parts.events.tell(eventOf(run, run.fencingToken, newest));
  }

  #pump(): void {
    clearTimeout(this.#timer);
    this.#refill();
    for (const [run, [first, ...others]] of this.#waiting) {
      if (this.#bytes < 0) break;
      this.#waiting.delete(run);
      // The run goes behind all others, so that one that saves much does not hold them up.
      if (others.length > 0) this.#waiting.set(run, others);
      if (first !== undefined) this.#tell(first);
    }
    if (this.#waiting.size === 0) return;
    this.#timer = setTimeout(() => this.#pump(), Math.ceil((-this.#bytes / this.#parts.bytesPerS) * 1_000) + 1);
  }

  #refill(): void {
    const nowMs = performance.now();
    const { bytesPerS } = this.#parts;
    this.#bytes = Math.min(bytesPerS, this.#bytes + ((nowMs - this.#countedAtMs) / 1_000) * bytesPerS);
    this.#countedAtMs = nowMs;
  }

  #tell({ run, json, resolve, reject }: Waiting): void {
    const { events, holds } = this.#parts;
    const { delivery, admission } = run;
    const lost = () => reject(new ObserverStopped("lease-lost"));
    if (admission === undefined || !holds(delivery.generation)) return lost();
    const number = (newestOf(run)?.number ?? 0) + 1;
    run.saved = { number, value: json };
    this.#bytes -= Buffer.byteLength(json) + ENVELOPE_BYTES;
    const event = eventOf(run, admission.fencingToken, run.saved);
    events.tell(event, () => (holds(delivery.generation) ? resolve() : lost()));
  }
}

function eventOf({ runId, start }: LiveRun, fencingToken: number, checkpoint: Checkpoint): CheckpointSaved {
  const { observerId, messageId, revision } = start;
  return { kind: "CheckpointSaved", observerId, runId, messageId, revision, at: Date.now(), fencingToken, ...checkpoint };
}
