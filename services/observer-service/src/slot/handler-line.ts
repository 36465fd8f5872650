import type { LogFields, LogLevel } from "@unacked/sdk";
import type { TraceIds } from "@unacked/tracing";
import { errorText } from "../error-text.ts";
import type { AttemptedRun } from "../wire/attempt.ts";

/** The event of a line that stands for one whose fields could not be written, as a getter of theirs threw. */
export const LINE_UNWRITABLE = "log-fields-unwritable";

/** Writes what a handler logs. Never throws: the fields are the author's own. */
export function writeHandlerLine(
  log: AttemptedRun["log"],
  level: LogLevel,
  message: string,
  fields: LogFields = {},
  ids?: TraceIds,
): void {
  try {
    log[level](ids === undefined ? { fields } : { ...ids, fields }, message);
  } catch (error) {
    log.warn({ event: LINE_UNWRITABLE, error: errorText(error).message }, "a line of its log could not be written");
  }
}
