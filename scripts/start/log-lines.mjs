/**
 * Makes text for people out of the JSON lines that the programs log.
 */

const WARNING_LEVEL = 40; // pino's numbers: 40 warn, 50 error, 60 fatal

/**
 * The object in a log line, null when it is none.
 *
 * @param {string} line
 * @returns {Record<string, any> | null}
 */
export function decodeLogLine(line) {
  if (!line.startsWith("{")) return null;
  try {
    return JSON.parse(line);
  } catch {
    return null; // only begins like JSON
  }
}

/**
 * The lines that tell why a program ended: its last warnings and errors, or its last lines if it logged none.
 *
 * @param {readonly string[]} lines
 * @param {number} [count]
 * @returns {string[]}
 */
export function meaningfulLines(lines, count = 5) {
  const written = lines.filter((line) => line.trim() !== "");
  const serious = written.filter((line) => {
    const entry = decodeLogLine(line);
    return entry === null || Number(entry.level) >= WARNING_LEVEL;
  });
  return (serious.length > 0 ? serious : written).slice(-count).map(readable);
}

/** @param {string} line */
function readable(line) {
  const entry = decodeLogLine(line);
  if (entry === null) return line;
  const error = entry.err?.message ?? entry.error?.message ?? entry.error;
  const message = String(entry.msg ?? "");
  return typeof error === "string" && !message.includes(error) ? `${message}: ${error}` : message;
}
