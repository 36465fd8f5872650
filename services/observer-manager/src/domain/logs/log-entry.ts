import type { KeptEntry, LogEntry } from "@unacked/contracts";

/** What a service keeps of one thing that a run said, as it is shown. JSON that was cut is shown as text. */
export function toLogEntry({ seq, at, level, message = "", json, stack, cut }: KeptEntry): LogEntry {
  const common = { seq, at: new Date(at).toISOString(), cut };
  const value = json === undefined ? undefined : valueOf(json);
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

function valueOf(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return json; // the beginning of it, or what has no JSON at all
  }
}
