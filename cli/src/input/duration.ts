import { usageFailure } from "../failure.ts";

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** `30s`, `1m30s`, `500ms`, `2h`; a plain number is seconds. In ms. */
export function parseDuration(text: string): number {
  if (/^\d+(?:\.\d+)?$/.test(text)) return Number(text) * 1_000;
  if (!/^(?:\d+(?:\.\d+)?(?:ms|s|m|h))+$/.test(text))
    throw usageFailure(`"${text}" is no duration`, "Write it as 30s, 1m30s or 500ms.");
  return [...text.matchAll(/([\d.]+)(ms|s|m|h)/g)].reduce(
    (sum, [, count, unit = ""]) => sum + Number(count) * (UNIT_MS[unit] ?? 0),
    0,
  );
}
