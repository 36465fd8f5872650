import { z } from "zod";
import { LogLevel } from "../messages/log-reply.ts";
import { ObserverStatus } from "../states/states.ts";
import { LastError } from "./observers.ts";
import { Stack } from "./withheld.ts";

const common = {
  seq: z.int().describe("counts everything that the run said, from 1"),
  at: z.iso.datetime().describe("ISO 8601, UTC, by the service's clock"),
  cut: z.boolean().describe("a text was too long to be kept whole; JSON that was cut stands as the beginning of its text"),
};

/** A line that a handler logged by `log`, or an error that it threw: then `stack` says where. */
export const LogLine = z
  .object({
    kind: z.literal("log"),
    ...common,
    level: LogLevel,
    message: z.string(),
    fields: z.unknown().optional(),
    stack: Stack,
  })
  .meta({ id: "LogLine" });
export type LogLine = z.infer<typeof LogLine>;

/** A value that a handler passed to `emit`, whether or not the broker then took it (if not, a line says so). */
export const EmittedValue = z
  .object({ kind: z.literal("emit"), ...common, value: z.unknown() })
  .meta({ id: "EmittedValue" });
export type EmittedValue = z.infer<typeof EmittedValue>;

export const LogEntry = z.discriminatedUnion("kind", [LogLine, EmittedValue]).meta({ id: "LogEntry" });
export type LogEntry = z.infer<typeof LogEntry>;

export const LogRun = z
  .object({
    id: z.uuid(),
    service: z.object({ id: z.uuid(), name: z.string() }),
    isCurrent: z.boolean().describe("false: the run is over, and this is what its service still has of it"),
  })
  .meta({ id: "LogRun" });
export type LogRun = z.infer<typeof LogRun>;

/**
 * Why there is nothing to show. no-run: it has not run yet · moving: its service has just let go of it, or gone · service-gone:
 * its last run is over, and its lines went with the service · not-kept: its last run is over, and the service keeps only
 * what ended last · no-answer: its service does not answer just now (only in a stream, which goes on asking).
 */
export const NoLogsReason = z.enum(["no-run", "moving", "service-gone", "not-kept", "no-answer"]);
export type NoLogsReason = z.infer<typeof NoLogsReason>;

/** GET /observers/{ref}/logs */
export const ObserverLogs = z
  .object({
    observer: z.object({ id: z.uuid(), name: z.string() }),
    status: ObserverStatus,
    run: LogRun.nullable().describe("the current run, or else the last one; null before the first"),
    entries: z.array(LogEntry).describe("oldest first"),
    omitted: z.int().describe("what the run said besides these: not kept any more, or beyond `limit`"),
    reason: NoLogsReason.nullable().describe("why nothing can be shown; null: this is what there is"),
    lastError: LastError.nullish().describe("of the observer, by the books: also when nothing of its run can be shown"),
  })
  .meta({ id: "ObserverLogs" });
export type ObserverLogs = z.infer<typeof ObserverLogs>;

/** The events of GET /observers/{ref}/logs?follow=true, by name, with what each carries. */
export const LOG_EVENTS = {
  /** What follows was said by this run. The first event, and again whenever the observer has moved. */
  run: LogRun,
  entry: LogEntry,
  /** How many lines since the last entry are no longer kept: the run logs faster than can be followed. */
  omitted: z.object({ count: z.int() }).meta({ id: "LogsOmitted" }),
  /** Nothing can be read just now. Sent once for each reason; the stream goes on asking. */
  waiting: z.object({ status: ObserverStatus, reason: NoLogsReason }).meta({ id: "LogsWaiting" }),
  /** The observer is over: nothing more will come, and the stream ends. */
  end: z.object({ status: ObserverStatus }).meta({ id: "LogsEnd" }),
} as const;
export type LogEventName = keyof typeof LOG_EVENTS;
export type LogEvent = { [Name in LogEventName]: { name: Name; data: z.infer<(typeof LOG_EVENTS)[Name]> } }[LogEventName];
