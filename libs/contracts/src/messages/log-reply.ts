import { z } from "zod";
import { wallClockMs } from "../bounds.ts";
import { RunId, ServiceId } from "../ids.ts";

export const LOG_LEVELS = ["debug", "info", "warn", "error"] as const;
export const LogLevel = z.enum(LOG_LEVELS);
export type LogLevel = z.infer<typeof LogLevel>;

/**
 * One entry of a run's log, as its service keeps it. `json` is the text of the emitted value, or of a line's fields (absent
 * if it had none). Texts over their bounds are cut, and JSON that is cut is no longer JSON.
 */
export const KeptEntry = z.object({
  /** Numbers all entries of the run, from 1. A missing number means that its entry is no longer kept. */
  seq: z.int().min(1),
  /** Wall clock of the service in ms since the epoch. For display only. */
  at: wallClockMs,
  /** Absent for an emitted value. */
  level: LogLevel.optional(),
  message: z.string().optional(),
  json: z.string().optional(),
  /** For an error that the handler threw: its stack (ErrorText). */
  stack: z.string().optional(),
  cut: z.boolean(),
});
export type KeptEntry = z.infer<typeof KeptEntry>;

/** More than a service keeps for a run, which is 120. */
const MAX_ENTRIES = 1_000;

/**
 * The answer to ReadLogs, through `unacked.replies`. It is neither stored nor sent again. `ended`: the run is over, and this
 * is what its service still has of it · `unknown`: it has nothing of such a run.
 */
export const LogReply = z.object({
  kind: z.literal("LogReply"),
  requestId: z.uuid(),
  serviceId: ServiceId,
  runId: RunId,
  state: z.enum(["running", "ended", "unknown"]),
  /** The number of the run's last entry; 0 means none yet. */
  lastSeq: z.int().min(0),
  /** The oldest entry comes first. */
  entries: z.array(KeptEntry).max(MAX_ENTRIES),
});
export type LogReply = z.infer<typeof LogReply>;
