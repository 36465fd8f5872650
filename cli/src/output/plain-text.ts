/**
 * Characters that steer a terminal, and that JSON and YAML do not escape: DEL, C1 (some terminals take U+009B for `ESC [`,
 * which begins a command), separators of lines and paragraphs, and changes of the direction of writing.
 */
export const STEERING = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/**
 * Makes others' text (an error's message, a label) safe for a terminal: control characters are written out, as they could
 * move the cursor, rename the window or hide what stands before them. Line breaks are, too: a cell is one line.
 */
export function plainText(text: string): string {
  return text.replaceAll(/[\u0000-\u001f]/g, writtenOut).replaceAll(STEERING, escaped);
}

/** One line of a command's output: no text of others in it can begin another line. */
export const plainLine = (text: string): string => `${plainText(text)}\n`;

/** Several such lines, one below the other. */
export const plainLines = (lines: readonly string[]): string => lines.map(plainLine).join("");

function writtenOut(character: string): string {
  if (character === "\n") return "\\n";
  if (character === "\t") return "\\t";
  return escaped(character);
}

/** Writes `\u009b`, which JSON and YAML (in double quotes) read as the character itself. */
export const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** Keeps at most `length` characters; the last one is `…` if something was cut. */
export function shortened(text: string, length: number): string {
  const characters = Array.from(text);
  return characters.length <= length ? text : `${characters.slice(0, length - 1).join("")}…`;
}
