import { z } from "zod";
import { wallClockMs } from "../bounds.ts";
import { RunId, ServiceId } from "../ids.ts";

export const LOG_LEVELS = ["debug", "info", "warn", "error"] as const;
export const LogLevel = z.enum(LOG_LEVELS);
export type LogLevel = z.infer<typeof LogLevel>;

/**
 * One thing that a run said, as its service keeps it. `json` is the text of what was emitted, or of a line's fields (absent:
 * it had none). Texts over their bounds are cut, and what is cut of JSON is no JSON any more.
 */
export const KeptEntry = z.object({
  /** Counts everything that the run said, from 1. A number that is missing is of something that is not kept any more. */
  seq: z.int().min(1),
  /** Wall clock of the service in ms since the epoch. For display only. */
  at: wallClockMs,
  /** Absent: it was emitted. */
  level: LogLevel.optional(),
  message: z.string().optional(),
  json: z.string().optional(),
  /** Of an error that the handler threw: where (ErrorText). */
  stack: z.string().optional(),
  cut: z.boolean(),
});
export type KeptEntry = z.infer<typeof KeptEntry>;

/** A service keeps 120 of a run. */
const MAX_ENTRIES = 1_000;

/**
 * The answer to ReadLogs, through `unacked.replies`. It passes by: neither stored nor sent again.
 * `ended`: the run is over, and this is what its service still has of it · `unknown`: it has nothing of such a run.
 */
export const LogReply = z.object({
  kind: z.literal("LogReply"),
  requestId: z.uuid(),
  serviceId: ServiceId,
  runId: RunId,
  state: z.enum(["running", "ended", "unknown"]),
  /** Of the last thing that the run said; 0: nothing yet. */
  lastSeq: z.int().min(0),
  /** Oldest first. */
  entries: z.array(KeptEntry).max(MAX_ENTRIES),
});
export type LogReply = z.infer<typeof LogReply>;
