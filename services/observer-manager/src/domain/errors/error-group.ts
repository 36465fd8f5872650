/** More of an error's text tells nothing about its kind. */
const MAX_READ = 2_000;
const MAX_GROUP = 200;

export const UUID = /[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/gi;
/** `0x…`, or a word of 8 or more hex digits, among them a figure and a letter: a hash, not a word or a number. */
const HEX = /\b0x[0-9a-f]+\b|\b(?=[a-f]*[0-9])(?=[0-9]*[a-f])[0-9a-f]{8,}\b/gi;
/** Also 1.5, 127.0.0.1:5432 and 12:30:05. */
const NUMBER = /[0-9]+(?:[.:][0-9]+)*/g;

/**
 * What errors of one cause have in common: the text without what differs from case to case (ids, hashes, numbers, times).
 * Errors with equal groups are counted together, so it is also the group's key.
 */
export function errorGroupOf(text: string): string {
  const alike = text
    .slice(0, MAX_READ)
    .replaceAll(UUID, "<uuid>")
    .replaceAll(HEX, "<hex>")
    .replaceAll(NUMBER, "<n>")
    .replaceAll(/\s+/g, " ");
  return (
    alike
      .trimStart()
      .slice(0, MAX_GROUP)
      .replace(/[\uD800-\uDBFF]$/, "")
      .trimEnd() || "(no text)"
  );
}
