import type { Log } from "../../../services/observer-service/src/log.ts";

export interface KeptLine extends Record<string, unknown> {
  readonly level: string;
  readonly msg: string;
}

/** A log that keeps its lines, and those of its children, in `lines`. */
export function keptLog(lines: KeptLine[], bound: object = {}): Log {
  const at = (level: string) => (fields: object, msg: string) => void lines.push({ ...bound, ...fields, level, msg });
  const levels = Object.fromEntries(["debug", "info", "warn", "error"].map((level) => [level, at(level)]));
  const child = (more: object) => keptLog(lines, { ...bound, ...more });
  return { ...levels, child, isLevelEnabled: (level: string) => level !== "debug" } as unknown as Log;
}
