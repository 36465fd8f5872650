import { Document, Scalar, visit } from "yaml";
import { escaped, STEERING } from "./plain-text.ts";

/** The same value as JSON.stringify writes, in characters that steer no terminal. */
export const jsonText = (value: unknown, indent = 0): string =>
  JSON.stringify(value ?? null, null, indent).replaceAll(STEERING, escaped);

/**
 * Likewise. Without aliases: each thing stands for itself, wherever it is copied to. Every line break is one of the text's own: a text of
 * several lines is a literal block, as a script was written, unless it needs escapes (CRLF, colours) or ends in spaces.
 */
export function yamlText(value: unknown): string {
  const document = new Document(value, { aliasDuplicateObjects: false });
  visit(document, {
    Scalar(key, node) {
      if (typeof node.value === "string" && needsQuotes(node.value, key === null)) node.type = Scalar.QUOTE_DOUBLE;
    },
  });
  return document.toString(UNFOLDED).replaceAll(STEERING, escaped);
}

/** The line's width (of 80) and quotes of several lines (from 40) both put in line breaks; yaml 2.9 loses spaces around some of them. */
const UNFOLDED = { lineWidth: 0, doubleQuotedMinMultiLineLength: Number.POSITIVE_INFINITY };

/**
 * Only double quotes know escapes: what needs one is put into them, a key too. So is what yaml 2.9 writes as a block that it reads otherwise:
 * white space alone, and at the root what begins with it. And a mark of byte order, which belongs to no text where it begins a document.
 */
const needsQuotes = (text: string, isRoot: boolean): boolean =>
  text.search(STEERING) !== -1 || /^\s*$|^\ufeff/.test(text) || (isRoot && /^\s/.test(text));
