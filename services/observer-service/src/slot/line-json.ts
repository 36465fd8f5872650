import { cutPart, cutParts, MAX_LINE } from "../bounded-line.ts";
import { errorText } from "../error-text.ts";

interface Line {
  readonly message: string;
  readonly fields: Record<string, unknown>;
}

/**
 * A line of log as JSON, no longer than the log takes it. It is cut here, by the keeper's own measure: a line of megabytes would hold
 * up the other runs of the slot, and one beyond the bound of a frame would end the slot.
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
 * The line as JSON. Values without a JSON form are written as the service's own logger does: a BigInt as a number (as text, if a
 * number would lose digits), and circular references as "[Circular]". An error, for which JSON has `{}`, is written like one that
 * is thrown.
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
  /** The path from the line down to the value that is being written. */
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
