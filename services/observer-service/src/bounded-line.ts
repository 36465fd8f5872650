/** Of one line of the log, in characters: what collectors of logs commonly take whole. */
const MAX_LINE = 65_536;
/** Of one of its fields, where the line is longer. */
const MAX_PART = 8_192;

/**
 * A line of the log as it may be written: one that is too long has its long fields cut (as text, where they were more) and says
 * by `cutFrom` how long it was. Observers may log whatever they like; one of them must not fill the disk that all share.
 */
export function boundedLine(line: string): string {
  if (line.length <= MAX_LINE) return line;
  const parts = Object.entries(JSON.parse(line) as Record<string, unknown>).map(([name, value]) => [name, cut(value)]);
  return `${JSON.stringify({ ...Object.fromEntries(parts), cutFrom: line.length })}\n`;
}

function cut(value: unknown): unknown {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length > MAX_PART ? `${text.slice(0, MAX_PART - 1)}…` : value;
}
