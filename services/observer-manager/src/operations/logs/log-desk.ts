import { setTimeout as sleep } from "node:timers/promises";
import { isOver, type LogReply, type NoLogsReason, type ObserverLogs } from "@unacked/contracts";
import type { Actor } from "../../domain/access/identity.ts";
import { toLogEntry } from "../../domain/logs/log-entry.ts";
import type { ObserverRef } from "../observers/observer-tools.ts";
import { LogFollower, type PlacedLogEvent } from "./log-follower.ts";
import type { LogPlace, LogPlaces, LogReader, PlacedRun } from "./log-source.ts";
import { LOG_STREAM_LIMITS, type LogStreamLimits, LogStreams } from "./log-streams.ts";
import type { LogPosition, LogTools } from "./log-tools.ts";
import { SharedQuestions } from "./shared-questions.ts";

type Asked = LogReply | NoLogsReason | "no-broker";

const POLL_EVERY_MS = 500;
/** A run that answers is taken for the current one for so long without a look into the books. */
const LOOK_EVERY_MS = 5_000;

/**
 * What observers say, asked of the very services that run them, when somebody wants to know: nothing of it passes the books
 * or the state queue. A stream asks again and again for as long as its client is there, and moves along with the observer;
 * those of one run ask together, and there are only so many.
 * A crash leaves nothing: a client goes on at any manager from the last entry it has.
 */
export class LogDesk implements LogTools {
  readonly #places: LogPlaces;
  readonly #reader: LogReader;
  readonly #streams: LogStreams;
  readonly #closing = new AbortController();

  constructor(parts: { places: LogPlaces; reader: LogReader; limits?: LogStreamLimits }) {
    this.#places = parts.places;
    this.#reader = new SharedQuestions(parts.reader);
    this.#streams = new LogStreams(parts.limits ?? LOG_STREAM_LIMITS);
  }

  /** Ends all streams. */
  close(): void {
    this.#closing.abort();
  }

  async readLogs(ref: ObserverRef, { limit }: { limit: number }): ReturnType<LogTools["readLogs"]> {
    let place = await this.#places.find(ref);
    for (let isLast = false; place !== undefined; isLast = true) {
      const asked = await this.#ask(place, () => ({ afterSeq: 0, limit }));
      const now = isReply(asked) || isLast ? undefined : await this.#places.find({ kind: "id", id: place.observer.id });
      // It has moved while we asked: once more, there.
      if (now === undefined || now.run?.id === place.run?.id) return conclude(place, asked);
      place = now;
    }
    return { kind: "problem", code: "observer-not-found" };
  }

  async followLogs(
    ref: ObserverRef,
    from: { limit: number; after?: LogPosition | undefined },
    by: Actor,
  ): ReturnType<LogTools["followLogs"]> {
    const place = await this.#places.find(ref);
    if (place === undefined) return { kind: "problem", code: "observer-not-found" };
    const refusal = this.#streams.refusal(by);
    if (refusal) return refusal;
    const events = (signal: AbortSignal) =>
      this.#counted(by, this.#follow(place, new LogFollower(from), AbortSignal.any([signal, this.#closing.signal])));
    return { kind: "stream", events };
  }

  /** Counts the stream from the first event that is asked for, in the same turn in which it was allowed, to the end. */
  async *#counted(by: Actor, events: AsyncGenerator<PlacedLogEvent>): AsyncGenerator<PlacedLogEvent> {
    this.#streams.opened(by);
    try {
      yield* events;
    } finally {
      this.#streams.closed(by);
    }
  }

  /** Ends with the signal, or when the observer is over. Rejects when the database goes away. */
  async *#follow(first: LogPlace, follower: LogFollower, signal: AbortSignal): AsyncGenerator<PlacedLogEvent> {
    let place: LogPlace | undefined = first;
    let lookAtMs = performance.now() + LOOK_EVERY_MS;
    while (place !== undefined) {
      const asked = await this.#ask(place, (run) => follower.next(run));
      if (signal.aborted) return;
      if (isReply(asked) && place.run !== null) yield* follower.take(place.run, asked);
      const runs = isReply(asked) && asked.state === "running";
      if (!runs && isOver(place.status)) return yield { name: "end", data: { status: place.status } };
      if (!runs) yield* follower.wait({ status: place.status, reason: reasonOf(asked) });
      await sleep(POLL_EVERY_MS, undefined, { signal }).catch(() => undefined); // aborted: seen below
      if (signal.aborted) return;
      if (runs && performance.now() < lookAtMs) continue;
      place = await this.#places.find({ kind: "id", id: place.observer.id });
      lookAtMs = performance.now() + LOOK_EVERY_MS;
    }
    yield { name: "end", data: { status: "Deleted" } };
  }

  async #ask(place: LogPlace, next: (run: PlacedRun) => { afterSeq: number; limit: number }): Promise<Asked> {
    const { run, observer } = place;
    if (run === null) return "no-run";
    if (!run.isCurrent && !run.serviceIsLiving) return "service-gone";
    const { generation, id: runId, service } = run;
    const question = { serviceId: service.id, generation, observerId: observer.id, runId, ...next(run) };
    const answer = await this.#reader.ask(question);
    if (answer === "no-answer" || answer === "no-broker") return answer;
    if (answer === "gone") return run.isCurrent ? "moving" : "service-gone";
    if (answer.state === "unknown") return run.isCurrent ? "moving" : "not-kept";
    return answer;
  }
}

const isReply = (asked: Asked): asked is LogReply => typeof asked !== "string";

/** Why there is nothing. A run that answers and does not run has told its last lines already, and the next run is awaited. */
const reasonOf = (asked: Asked): NoLogsReason => {
  if (isReply(asked)) return "moving";
  return asked === "no-broker" ? "no-answer" : asked;
};

function conclude({ observer, status, run, lastError }: LogPlace, asked: Asked): Awaited<ReturnType<LogTools["readLogs"]>> {
  if (asked === "no-broker") return unavailable("The broker cannot be asked just now");
  if (asked === "no-answer") return unavailable(`The service ${run?.service.name} does not answer`);
  const shown = run && { id: run.id, service: run.service, isCurrent: run.isCurrent };
  const entries = isReply(asked) ? asked.entries.map(toLogEntry) : [];
  const omitted = isReply(asked) ? asked.lastSeq - entries.length : 0;
  const reason = isReply(asked) ? null : asked;
  const logs: ObserverLogs = { observer, status, run: shown, entries, omitted, reason, lastError };
  return { kind: "logs", logs };
}

const unavailable = (detail: string) => ({ kind: "problem", code: "logs-unavailable", detail }) as const;
