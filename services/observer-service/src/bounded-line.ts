/** The most characters of one line of the log: what collectors of logs commonly take whole. */
export const MAX_LINE = 65_536;
/** The most characters of one field, if the line is longer. */
const MAX_PART = 8_192;

/** Fields of starts, or of what an observer was given, that may hold what nobody else should read. */
export const REDACTED_KEYS = ["params", "authorization"];
export const CENSOR = "(not logged)";

/** A replacer for `JSON.stringify`: redacts the same in what is kept of a line beside the log, at any depth. */
export const redacted = (key: string, value: unknown): unknown => (REDACTED_KEYS.includes(key) ? CENSOR : value);

/**
 * A line of the log as it may be written: if it is too long, its long fields are cut (to text, if they were more) and `cutFrom`
 * says how long it was. Observers may log whatever they like; one of them must not fill the disk that all share.
 */
export function boundedLine(line: string): string {
  if (line.length <= MAX_LINE) return line;
  return `${JSON.stringify({ ...cutParts(JSON.parse(line) as object), cutFrom: line.length })}\n`;
}

/** Cuts long fields to text, which nobody can look into any more, so what may not be logged is taken out first. */
export const cutParts = (parts: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(parts).map(([name, value]) => [name, cutPart(value)]));

export function cutPart<Value>(value: Value): Value | string {
  const text = typeof value === "string" ? value : jsonOf(value);
  if (text === undefined) return TOO_DEEP;
  return text.length > MAX_PART ? `${text.slice(0, MAX_PART - 1)}…` : value;
}

const TOO_DEEP = "(nested too deeply to be shown in part)";

/**
 * Undefined if it has no JSON: a value that can be written otherwise may be nested too deeply for a look at each of its
 * parts.
 */
function jsonOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value, redacted) ?? "";
  } catch {
    return undefined;
  }
}
