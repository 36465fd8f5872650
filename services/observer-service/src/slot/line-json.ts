import { cutPart, cutParts, MAX_LINE } from "../bounded-line.ts";
import { errorText } from "../error-text.ts";

interface Line {
  readonly message: string;
  readonly fields: Record<string, unknown>;
}

/**
 * A line of log as JSON, no longer than the log takes it. What is cut is cut here, by the keeper's own measure: a line of megabytes
 * would hold up what all others of the slot say, and one that is longer than a frame may be would end it.
 *
 * @throws what the author's own code throws: `toJSON`, a getter
 */
export function lineJson(line: Line): string {
  const json = asJson(line);
  if (json.length <= MAX_LINE) return json;
  const { fields, message } = JSON.parse(json) as Line;
  return JSON.stringify({ ...line, message: cutPart(message), fields: { ...cutParts(fields), cutFrom: json.length } });
}

/**
 * As JSON. What has none is written as the service's own logger has it: a BigInt as a number (as text, where a number would lose
 * digits), and what leads back to itself as "[Circular]". An error, of which JSON has `{}`, is what is told of one that is thrown.
 */
function asJson(line: object): string {
  try {
    return JSON.stringify(line, told);
  } catch {
    return JSON.stringify(line, writable());
  }
}

const told = (_key: string, value: unknown): unknown => (value instanceof Error ? errorText(value) : value);

function writable(): (this: unknown, key: string, value: unknown) => unknown {
  /** From the line down to the one that is being written. */
  const ancestors: unknown[] = [];
  return function (key, given) {
    const value = told(key, given);
    if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
    if (typeof value !== "object" || value === null) return value;
    while (ancestors.length > 0 && ancestors.at(-1) !== this) ancestors.pop();
    if (ancestors.includes(value)) return "[Circular]";
    ancestors.push(value);
    return value;
  };
}
