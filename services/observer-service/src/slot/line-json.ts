/**
 * A line of log as JSON. What has no JSON is written as the service's own logger has it: a BigInt as a number (as text, where a
 * number would lose digits), and what leads back to itself as "[Circular]".
 *
 * @throws what the author's own code throws: `toJSON`, a getter
 */
export function lineJson(line: object): string {
  try {
    return JSON.stringify(line);
  } catch {
    return JSON.stringify(line, writable());
  }
}

function writable(): (this: unknown, key: string, value: unknown) => unknown {
  /** From the line down to the one that is being written. */
  const ancestors: unknown[] = [];
  return function (_key, value) {
    if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
    if (typeof value !== "object" || value === null) return value;
    while (ancestors.length > 0 && ancestors.at(-1) !== this) ancestors.pop();
    if (ancestors.includes(value)) return "[Circular]";
    ancestors.push(value);
    return value;
  };
}
