import { inspect, types } from "node:util";

/** Enough to know it again; what shows it is bounded further on its way. */
const MAX_SHOWN = 2_000;
const SHOWN = {
  depth: 3,
  maxArrayLength: 50,
  maxStringLength: MAX_SHOWN,
  breakLength: Number.POSITIVE_INFINITY,
  compact: true,
  // No code of the thrown one's own.
  customInspect: false,
  getters: false,
} as const;

/** What was thrown, as an error: itself if it is one, else a `NotAnError` that shows it, bounded. Never throws. */
export function errorOf(thrown: unknown): Error {
  if (isError(thrown)) return thrown;
  const error = new Error(`something else than an Error was thrown: ${shown(thrown)}`, { cause: thrown });
  error.name = "NotAnError";
  delete error.stack; // it would say where this was noticed
  return error;
}

/** Also of another realm. A proxy may throw where it is asked for its prototype. */
export function isError(value: unknown): value is Error {
  try {
    return value instanceof Error || types.isNativeError(value);
  } catch {
    return false;
  }
}

function shown(value: unknown): string {
  try {
    const text = typeof value === "string" ? value : inspect(value, SHOWN);
    return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
  } catch {
    return `${typeof value} that cannot be shown`;
  }
}
