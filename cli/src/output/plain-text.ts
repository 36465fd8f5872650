/**
 * What steers a terminal, and JSON and YAML let stand: DEL, C1 (some terminals take U+009B for `ESC [`, which begins a
 * command), the separators of lines and paragraphs, and what turns the direction of writing.
 */
export const STEERING = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/**
 * Text of others (an error's message, a label) as it may stand in a terminal: control characters are written out, as they
 * could move the cursor, rename the window or hide what stands before them. A line break is one too: a cell is one line.
 */
export function plainText(text: string): string {
  return text.replaceAll(/[\u0000-\u001f]/g, writtenOut).replaceAll(STEERING, escaped);
}

/** A line that a command says: nothing of others that stands in it begins another one. */
export const plainLine = (text: string): string => `${plainText(text)}\n`;

/** Several of them, one below the other. */
export const plainLines = (lines: readonly string[]): string => lines.map(plainLine).join("");

function writtenOut(character: string): string {
  if (character === "\n") return "\\n";
  if (character === "\t") return "\\t";
  return escaped(character);
}

/** `\u009b`, which JSON and YAML (in double quotes) read as the character itself. */
export const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** At most `length` characters, the last one `…` where something was cut. */
export function shortened(text: string, length: number): string {
  const characters = Array.from(text);
  return characters.length <= length ? text : `${characters.slice(0, length - 1).join("")}…`;
}
