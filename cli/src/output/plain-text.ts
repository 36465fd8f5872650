/**
 * Text of others (an error's message, a label) as it may stand in a terminal: control characters are written out, as they
 * could move the cursor, rename the window or hide what stands before them. A line break is one too: a cell is one line.
 */
export function plainText(text: string): string {
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g, writtenOut);
}

function writtenOut(character: string): string {
  if (character === "\n") return "\\n";
  if (character === "\t") return "\\t";
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** At most `length` characters, the last one `…` where something was cut. */
export function shortened(text: string, length: number): string {
  const characters = Array.from(text);
  return characters.length <= length ? text : `${characters.slice(0, length - 1).join("")}…`;
}
