import { z } from "zod";
import { count, shownText, withoutHoles } from "../bounds.ts";
import { ObserverId, RunId } from "../ids.ts";

/** How much of an unreadable body is kept. */
export const MAX_REPORTED_BODY_BYTES = 16_384;
/** The bound of the description of what was wrong, in characters. */
export const MAX_ERROR_DETAIL = 16_384;
/** The longest start of an observer: its params have 256 KiB at most, its checkpoint 64. */
export const MAX_START_BYTES = 1_048_576;

const REASONS = ["unreadable", "refused-by-database", "retries-used-up", "bad-params", "unknown-observer"] as const;

const Report = z.object({
  kind: z.literal("ErrorReport"),
  /** `unreadable`: did not decode · `refused-by-database`: an event PostgreSQL will never take · `retries-used-up` · `bad-params` ·
   * `unknown-observer`: a run that the books do not know and that was told to stop; its body is the whole ReportedStart. */
  reason: z.enum(REASONS),
  /** What was wrong, and where (a JSON pointer where there is one). */
  detail: shownText(MAX_ERROR_DETAIL),
  /** The queue the message came from. */
  queue: shownText(255),
  observerId: ObserverId.optional(),
  runId: RunId.optional(),
  /** Who reports: a serviceId or a manager's id. */
  reporter: shownText(128),
  /** The message as it was, as text, cut at 16 KiB (an unknown observer's is whole). */
  body: z.string().overwrite(withoutHoles),
  bodyBytes: count(0),
});

/**
 * An entry of `unacked.error`: an unreadable message, an event that could not be applied, a run that failed for good. The sender may not
 * have cut its body, so it is cut when it is read.
 */
export const ErrorReport = Report.overwrite((report) => {
  const most = report.reason === "unknown-observer" ? MAX_START_BYTES : MAX_REPORTED_BODY_BYTES;
  return report.body.length * 3 <= most ? report : { ...report, body: cut(Buffer.from(report.body), most) };
});
export type ErrorReport = z.infer<typeof ErrorReport>;

/** Why something stands among the errors: as it was reported, or as a manager tells by itself. `lost-in-failover`: a client was answered for it,
 * and the database that was promoted never saw it. */
export const ErrorReason = z.enum([...REASONS, "lost-in-failover"]);
export type ErrorReason = z.infer<typeof ErrorReason>;

type ReportedBody = Pick<ErrorReport, "body" | "bodyBytes">;

/** The part of a body that is kept; bytes that are not UTF-8 become U+FFFD. */
export function reportBody(body: Buffer, maxBytes = MAX_REPORTED_BODY_BYTES): ReportedBody {
  return { body: cut(body, maxBytes), bodyBytes: body.length };
}

const cut = (body: Buffer, maxBytes: number): string => body.subarray(0, maxBytes).toString("utf8");
