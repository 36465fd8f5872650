/** One line of an output, without its line end. `truncated`: it was longer, the rest is left out. */
export type OutputLine = { readonly line: string; readonly truncated?: true };

export type LineReader = {
  /** Takes the next piece of text, gives the lines that it ends. */
  push(text: string): OutputLine[];
  /** What is left when the text is over: a last line without an end, if there is one. */
  rest(): OutputLine[];
};

/** Splits a text that comes in pieces into lines (`\n` or `\r\n`), keeping at most `maxLength` characters of each. */
export function createLineReader(maxLength: number): LineReader {
  let current = "";
  let truncated = false;

  const take = (text: string) => {
    const free = maxLength - current.length;
    truncated ||= text.length > free;
    current += text.slice(0, free);
  };
  const finish = (): OutputLine => {
    const line = current.endsWith("\r") ? current.slice(0, -1) : current;
    const finished: OutputLine = truncated ? { line, truncated } : { line };
    current = "";
    truncated = false;
    return finished;
  };

  return {
    push(text) {
      const pieces = text.split("\n");
      const last = pieces.pop() ?? "";
      const lines = pieces.map((piece) => {
        take(piece);
        return finish();
      });
      take(last);
      return lines;
    },
    rest: () => (current === "" && !truncated ? [] : [finish()]),
  };
}
