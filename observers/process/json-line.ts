const SEPARATORS = /[\u2028\u2029]/g;

/**
 * A value as a line of JSON that everybody reads as one. JSON leaves U+2028 and U+2029 as they are in a text, and some end a line there: the `readline`
 * of Node 24 does.
 */
export const jsonLine = (value: object): string =>
  `${JSON.stringify(value).replace(SEPARATORS, (one) => (one === "\u2028" ? "\\u2028" : "\\u2029"))}\n`;
