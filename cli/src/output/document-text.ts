import { Document, Scalar, stringify, visit } from "yaml";
import { escaped, STEERING } from "./plain-text.ts";

/** The same value as JSON.stringify writes, in characters that steer no terminal. */
export const jsonText = (value: unknown, indent = 0): string =>
  JSON.stringify(value ?? null, null, indent).replaceAll(STEERING, escaped);

/** Likewise. Without aliases: each thing stands for itself, wherever it is copied to. */
export function yamlText(value: unknown): string {
  const text = stringify(value, WITHOUT_ALIASES);
  return text.search(STEERING) === -1 ? text : quotedYaml(value);
}

const WITHOUT_ALIASES = { aliasDuplicateObjects: false };

/** Only double quotes know escapes: what needs one is put into them, a key too. */
function quotedYaml(value: unknown): string {
  const document = new Document(value, WITHOUT_ALIASES);
  visit(document, {
    Scalar(_key, node) {
      if (typeof node.value === "string" && node.value.search(STEERING) !== -1) node.type = Scalar.QUOTE_DOUBLE;
    },
  });
  return document.toString().replaceAll(STEERING, escaped);
}
