import type { KeptEntry, LogEntry } from "@unacked/contracts";
import { fromJsonText } from "../json-text.ts";

/** What a service keeps of one thing that a run said, as it is shown. JSON that was cut is shown as text. */
export function toLogEntry({ seq, at, level, message = "", json, stack, cut }: KeptEntry): LogEntry {
  const common = { seq, at: new Date(at).toISOString(), cut };
  const value = json === undefined ? undefined : fromJsonText(json);
  if (level === undefined) return { kind: "emit", ...common, value };
  return {
    kind: "log",
    ...common,
    level,
    message,
    ...(value !== undefined && { fields: value }),
    ...(stack !== undefined && { stack }),
  };
}
