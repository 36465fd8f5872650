/**
 * Makes text for people out of the JSON lines that the programs log.
 */

/** pino's names, or its numbers. */
const SERIOUS = ["warn", "error", "fatal", "40", "50", "60"];

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
 * A warning, or worse.
 *
 * @param {Record<string, any> | null} entry
 */
export const isSerious = (entry) => SERIOUS.includes(String(entry?.level));

/**
 * The lines that tell why a program ended: its last warnings and errors, or its last lines if it logged none. What is said again is
 * told once.
 *
 * @param {readonly string[]} lines
 * @param {number} [count]
 * @returns {string[]}
 */
export function meaningfulLines(lines, count = 5) {
  const written = lines.filter((line) => line.trim() !== "");
  const serious = written.filter((line) => {
    const entry = decodeLogLine(line);
    return entry === null || isSerious(entry);
  });
  const told = (serious.length > 0 ? serious : written).map(readable);
  return told.filter((text, index) => told.lastIndexOf(text) === index).slice(-count);
}

/**
 * Of what is wrong: why, and what would mend it, as the program has written beside its message. Empty if it has not.
 *
 * @param {Record<string, any>} entry
 */
export function reasonOf({ msg, url, detail, remedy }) {
  const [why, where] = [detail, url].map((text) =>
    typeof text === "string" && !String(msg).includes(text) ? text : undefined,
  );
  const parts = [why === undefined || where === undefined ? why : `${why} (${where})`, remedy];
  return parts.filter((part) => typeof part === "string").join(". ");
}

/** @param {string} line */
function readable(line) {
  const entry = decodeLogLine(line);
  if (entry === null) return line;
  const error = entry.err?.message ?? entry.error?.message ?? entry.error;
  const message = String(entry.msg ?? "");
  const said = typeof error === "string" && !message.includes(error) ? `${message}: ${error}` : message;
  const reason = isSerious(entry) ? reasonOf(entry) : "";
  return reason === "" ? said : `${said}: ${reason}`;
}
