import type { LogEvent, LogReply, NoLogsReason, RunId } from "@unacked/contracts";
import { toLogEntry } from "../../domain/logs/log-entry.ts";
import type { PlacedRun } from "./log-source.ts";
import type { LogPosition } from "./log-tools.ts";

/** An event with, where it is one to go on from, its place. */
export type PlacedLogEvent = LogEvent & { after?: LogPosition };

const ALL = 1_000;

/**
 * One client's place in what an observer says, over all its runs. Comes in: what was answered to the question asked last.
 * Guarantees: nothing of a run is told twice, what is not kept any more is counted, and a move is told before what the new
 * run says. It asks nobody itself.
 */
export class LogFollower {
  #position: LogPosition | undefined;
  /** How much it wants of what was said before it began to follow. */
  #limit: number;
  #announced: RunId | undefined;
  #reason: NoLogsReason | undefined;

  constructor({ limit, after }: { limit: number; after?: LogPosition | undefined }) {
    this.#position = after;
    this.#limit = after === undefined ? limit : ALL;
  }

  /** What to ask a run for. */
  next({ id }: PlacedRun): { afterSeq: number; limit: number } {
    if (this.#position?.runId !== id) return { afterSeq: 0, limit: this.#limit };
    return { afterSeq: this.#position.seq, limit: ALL };
  }

  take({ id, service, isCurrent }: PlacedRun, { entries, lastSeq }: LogReply): PlacedLogEvent[] {
    const events: PlacedLogEvent[] = [];
    if (this.#announced !== id) events.push({ name: "run", data: { id, service, isCurrent } });
    this.#announced = id;
    this.#reason = undefined;
    const { afterSeq, limit } = this.next({ id, service, isCurrent });
    const omitted = lastSeq - afterSeq - entries.length;
    if (limit === ALL && omitted > 0) events.push({ name: "omitted", data: { count: omitted } });
    for (const entry of entries)
      events.push({ name: "entry", data: toLogEntry(entry), after: { runId: id, seq: entry.seq } });
    this.#position = { runId: id, seq: Math.max(afterSeq, lastSeq) };
    this.#limit = ALL;
    return events;
  }

  /** Tells that nothing could be had; each reason is told once. */
  wait(data: Extract<LogEvent, { name: "waiting" }>["data"]): PlacedLogEvent[] {
    if (this.#reason === data.reason) return [];
    this.#reason = data.reason;
    return [{ name: "waiting", data }];
  }
}
