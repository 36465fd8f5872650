/** A label's key or value. */
const LABEL_PART = /^[A-Za-z0-9._:-]{1,128}$/;

export const HOW_LABELS_ARE_SELECTED = "must be key=value or key:value, each of 1 to 128 of A-Z a-z 0-9 . _ : -";

/**
 * One label as a list is filtered by it, in a query of REST and in the status page's address. `=` cannot stand in a key or value,
 * `:` can: with both, `=` is the separator; with `:` alone, the first one is.
 * @returns undefined for a text that no label could be
 */
export function parseLabelSelector(text: string): { key: string; value: string } | undefined {
  const separator = text.includes("=") ? text.indexOf("=") : text.indexOf(":");
  const [key, value] = [text.slice(0, Math.max(0, separator)), text.slice(separator + 1)];
  return key !== "__proto__" && LABEL_PART.test(key) && LABEL_PART.test(value) ? { key, value } : undefined;
}
