import { z } from "zod";
import { RunEndReason } from "../states/states.ts";
import { AuditedAction } from "./audit.ts";
import { Timestamp } from "./timestamp.ts";
import { WITHHELD } from "./withheld.ts";

/**
 * What happened to an observer: it was created · somebody asked for something · a run started · an attempt of it failed · it fell silent ·
 * it was heard again · a run took what was changed as it ran, or rejected it · a run ended.
 */
export const TIMELINE_KINDS = [
  "created",
  "asked",
  "started",
  "attempt-failed",
  "silent",
  "heard",
  "updated",
  "rejected",
  "ended",
] as const;
export type TimelineKind = (typeof TIMELINE_KINDS)[number];

export const TimelineEntry = z
  .object({
    at: Timestamp,
    kind: z.enum(TIMELINE_KINDS),
    run: z.object({ id: z.uuid(), runNumber: z.int() }).nullable().describe("the run that it is about"),
    service: z.object({ id: z.uuid(), name: z.string().nullable() }).nullable().describe("where that run is, or was"),
    action: AuditedAction.nullable().describe("what somebody asked for"),
    by: z
      .string()
      .nullable()
      .optional()
      .describe("who asked, or made the run end; null: nobody did, or it is not known. For operators and admins")
      .register(WITHHELD, { from: "operator" }),
    reason: RunEndReason.nullable().describe("why the run ended"),
    attempt: z.int().nullable().describe("of the run, which failed"),
    text: z
      .string()
      .nullable()
      .describe(
        "the error, what interrupted the run and who did that if it is known, why it was moved or given back, how long it was silent, or which version it runs by and why",
      ),
  })
  .meta({ id: "TimelineEntry" });
export type TimelineEntry = z.infer<typeof TimelineEntry>;

/** GET /observers/{ref}/timeline. The newest first. */
export const TimelinePage = z
  .object({
    items: z.array(TimelineEntry),
    nextCursor: z.string().nullable().describe("pass as `cursor` for the next page; null on the last"),
  })
  .meta({ id: "TimelinePage" });
export type TimelinePage = z.infer<typeof TimelinePage>;
