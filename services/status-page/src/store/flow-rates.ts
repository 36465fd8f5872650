import { traitsOf } from "@unacked/contracts";
import type { ObserverRow } from "./observer-row.ts";

export const FLOWS = ["starts", "ends", "failures"] as const;
export type Flow = (typeof FLOWS)[number];

export const BUCKET_MS = 5_000;
const BUCKETS_A_MINUTE = 60_000 / BUCKET_MS;
/** What is shown: ten minutes. One minute more is kept, as each point looks one minute back. */
export const SHOWN_BUCKETS = 10 * BUCKETS_A_MINUTE;
const KEPT_BUCKETS = SHOWN_BUCKETS + BUCKETS_A_MINUTE;

/** Runs that went on at another service. */
export interface Moves {
  count: number;
  /** Those that were without a service for a while: the broker had nobody to give them to. The others had the new one at once. */
  waited: number;
  /** In ms, by the manager's clock; 0 if none waited. */
  longestWaitMs: number;
}

export interface RateSeries {
  /** Seconds since the epoch, oldest first. */
  timesS: number[];
  /** How many within the minute before each time. Null: the page was not open yet. */
  perMinute: Record<Flow, (number | null)[]>;
}

interface Bucket {
  slot: number;
  counts: Record<Flow, number>;
}

/**
 * Counts runs that start, end and fail, from the changes that go by; times are those of the browser, an argument. It knows
 * nothing of what happened before the page was opened, and says so.
 */
export class FlowRates {
  readonly #buckets: Bucket[] = [];
  readonly #sinceSlot: number;
  readonly moves: Moves = { count: 0, waited: 0, longestWaitMs: 0 };

  constructor(nowMs: number) {
    this.#sinceSlot = Math.floor(nowMs / BUCKET_MS);
  }

  /** One change of one observer. Without `before` it is new to the page, and only a first run counts as a start. */
  note(before: ObserverRow | undefined, after: ObserverRow, nowMs: number): void {
    const { counts } = this.#bucketAt(nowMs);
    const ended = before !== undefined && before.runId !== null && before.runId !== after.runId;
    const started = after.runId !== null && (before === undefined ? after.runNumber === 1 : before.runId !== after.runId);
    const failed = before !== undefined && failedOf(after) > failedOf(before);
    if (started) counts.starts += 1;
    if (ended) counts.ends += 1;
    if (failed) counts.failures += 1;
    if (before !== undefined) this.#noteMove(before, after);
  }

  series(nowMs: number): RateSeries {
    const last = Math.floor(nowMs / BUCKET_MS);
    const bySlot = new Map(this.#buckets.map(({ slot, counts }) => [slot, counts]));
    const slots = Array.from({ length: SHOWN_BUCKETS }, (_, index) => last - SHOWN_BUCKETS + 1 + index);
    const sumUpTo = (slot: number, flow: Flow) => {
      if (slot < this.#sinceSlot) return null;
      let sum = 0;
      for (let back = 0; back < BUCKETS_A_MINUTE; back += 1) sum += bySlot.get(slot - back)?.[flow] ?? 0;
      return sum;
    };
    const of = (flow: Flow) => slots.map((slot) => sumUpTo(slot, flow));
    return {
      timesS: slots.map((slot) => ((slot + 1) * BUCKET_MS) / 1_000),
      perMinute: { starts: of("starts"), ends: of("ends"), failures: of("failures") },
    };
  }

  #noteMove(before: ObserverRow, after: ObserverRow): void {
    const { moves } = this;
    const waited = before.status === "Redistributing" && after.status === "Processing";
    const atOnce = before.serviceId !== null && after.serviceId !== null && before.serviceId !== after.serviceId;
    if (waited || atOnce) moves.count += 1;
    if (!waited) return;
    moves.waited += 1;
    moves.longestWaitMs = Math.max(moves.longestWaitMs, Date.parse(after.modifiedAt) - Date.parse(before.modifiedAt));
  }

  #bucketAt(nowMs: number): Bucket {
    const slot = Math.floor(nowMs / BUCKET_MS);
    const last = this.#buckets.at(-1);
    if (last !== undefined && last.slot >= slot) return last;
    const fresh: Bucket = { slot, counts: { starts: 0, ends: 0, failures: 0 } };
    this.#buckets.push(fresh);
    while ((this.#buckets[0]?.slot ?? slot) <= slot - KEPT_BUCKETS) this.#buckets.shift();
    return fresh;
  }
}

/** How many attempts have failed: the last one, too, unless it goes on. */
function failedOf({ status, attempts }: ObserverRow): number {
  return traitsOf(status).isFailing ? attempts : Math.max(0, attempts - 1);
}
