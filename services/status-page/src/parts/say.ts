const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** `12 ms`, `4.2 s`, `3 min 20 s`, `2 h 5 min`, `9 d 4 h`. */
export function sayDuration(ms: number): string {
  if (ms < SECOND_MS) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 10 * SECOND_MS) return `${Math.floor(ms / 100) / 10} s`;
  if (ms < MINUTE_MS) return `${Math.floor(ms / SECOND_MS)} s`;
  if (ms < HOUR_MS) return two(ms, MINUTE_MS, "min", SECOND_MS, "s");
  if (ms < DAY_MS) return two(ms, HOUR_MS, "h", MINUTE_MS, "min");
  return two(ms, DAY_MS, "d", HOUR_MS, "h");
}

/** For ages that are redrawn each second: no parts of a second, which would flicker. */
export const sayAge = (ms: number): string =>
  ms < MINUTE_MS ? `${Math.floor(Math.max(0, ms) / SECOND_MS)} s` : sayDuration(ms);

/** Of what has happened: `just now`, `4 s ago`. It is never said to come, also where the clocks of machines differ. */
export const sayAgo = (ms: number): string => (ms < SECOND_MS ? "just now" : `${sayAge(ms)} ago`);

/** Of what may still come: `in 2 h 5 min`, `now`, `4 s ago`. */
export function sayAway(leftMs: number): string {
  if (Math.abs(leftMs) < SECOND_MS) return "now";
  return leftMs > 0 ? `in ${sayAge(leftMs)}` : `${sayAge(-leftMs)} ago`;
}

function two(ms: number, bigMs: number, big: string, smallMs: number, small: string): string {
  const rest = Math.floor((ms % bigMs) / smallMs);
  return `${Math.floor(ms / bigMs)} ${big}${rest === 0 ? "" : ` ${rest} ${small}`}`;
}

export { readableBytes as sayBytes } from "@unacked/contracts";

const NUMBERS = new Intl.NumberFormat();
export const sayCount = (count: number): string => NUMBERS.format(count);

/** `1 observer`, `2 observers`. */
export const sayMany = (count: number, noun: string, nouns = `${noun}s`): string =>
  `${sayCount(count)} ${count === 1 ? noun : nouns}`;
