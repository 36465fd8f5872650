import { usageFailure } from "../failure.ts";

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** The longest wait of Node's timers, some 24.8 days. A longer one would be over at once. */
const LONGEST_WAIT_MS = 2_147_483_647;

/** Parses `30s`, `1m30s`, `500ms`, `2h` or `7d`; a plain number is seconds. Returns whole ms. */
export function parseDuration(text: string): number {
  if (/^\d+(?:\.\d+)?$/.test(text)) return Math.round(Number(text) * 1_000);
  if (!/^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+$/.test(text))
    throw usageFailure(`"${text}" is not a duration`, "Write it like 30s, 1m30s, 2h, 7d or 500ms.");
  const ms = [...text.matchAll(/([\d.]+)(ms|s|m|h|d)/g)].reduce(
    (sum, [, count, unit = ""]) => sum + Number(count) * (UNIT_MS[unit] ?? 0),
    0,
  );
  return Math.round(ms);
}

/** Parses a duration that this program itself waits for. */
export function parseTimeout(text: string): number {
  const ms = parseDuration(text);
  if (ms <= LONGEST_WAIT_MS) return ms;
  throw usageFailure(`"${text}" is too long a wait`, "It is 24d at most.");
}
