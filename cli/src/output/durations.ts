const UNITS = [
  { name: "d", ms: 86_400_000 },
  { name: "h", ms: 3_600_000 },
  { name: "m", ms: 60_000 },
  { name: "s", ms: 1_000 },
] as const;

/**
 * As short as an age can be and still be useful: `0s`, `59s`, `3m20s`, `45m`, `5h10m`, `12h`, `3d4h`, `40d`. The second unit
 * appears only while the first is below ten, as in kubectl. Negative durations (clocks differ) are `0s`.
 */
export function shortDuration(durationMs: number): string {
  const largest = UNITS.findIndex(({ ms }) => durationMs >= ms);
  const unit = UNITS[largest];
  if (unit === undefined) return "0s";
  const count = Math.floor(durationMs / unit.ms);
  const next = UNITS[largest + 1];
  const rest = next === undefined ? 0 : Math.floor((durationMs % unit.ms) / next.ms);
  return next === undefined || count >= 10 || rest === 0
    ? `${count}${unit.name}`
    : `${count}${unit.name}${rest}${next.name}`;
}

/** The age of a timestamp of the API. */
export const ageOf = (timestamp: string, nowMs: number): string => shortDuration(nowMs - Date.parse(timestamp));

/** Writes a setting in ms exactly: `250ms`, `1s`, `5m`. */
export function exactDuration(durationMs: number): string {
  const unit = UNITS.find(({ ms }) => durationMs >= ms && durationMs % ms === 0);
  return unit === undefined ? `${durationMs}ms` : `${durationMs / unit.ms}${unit.name}`;
}
