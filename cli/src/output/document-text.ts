import { Document, Scalar, visit } from "yaml";
import { escaped, STEERING } from "./plain-text.ts";

/** Writes what JSON.stringify writes, with escapes for characters that could steer a terminal. */
export const jsonText = (value: unknown, indent = 0): string =>
  JSON.stringify(value ?? null, null, indent).replaceAll(STEERING, escaped);

/**
 * Writes YAML as safely. It has no aliases, so that each part can be copied. Line breaks are only those of the texts: a text of several
 * lines is a literal block, as a script was written, unless it needs escapes (CRLF, colours) or ends in spaces.
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

/** A line's width (80) and quotes of several lines (from 40) would put in line breaks; yaml 2.9 loses spaces around some of them. */
const UNFOLDED = { lineWidth: 0, doubleQuotedMinMultiLineLength: Number.POSITIVE_INFINITY };

/**
 * Only double quotes know escapes, so texts and keys that need one get them. So do texts that yaml 2.9 writes as a block that it reads
 * otherwise: white space alone, or, at the root, a text that begins with it; and a byte order mark, which is not part of the text at the
 * start of a document.
 */
const needsQuotes = (text: string, isRoot: boolean): boolean =>
  text.search(STEERING) !== -1 || /^\s*$|^\ufeff/.test(text) || (isRoot && /^\s/.test(text));
