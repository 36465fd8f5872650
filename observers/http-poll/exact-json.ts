/** A text, to be passed over, or a number that has no fraction and no exponent, of as many digits as may be rounded. */
const TEXT_OR_LONG_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"|(?<![\d.eE+-])-?[1-9]\d{15,}(?![\d.eE])/g;

/**
 * What a JSON document says, with whole numbers beyond 2^53 as texts: JSON.parse rounds them, so that ids of 19 digits and times in
 * nanoseconds would be wrong, and some that differ the same. Throws where it is no JSON.
 */
export function parseExactly(json: string): unknown {
  const document: unknown = JSON.parse(json); // whatever else it is, its texts have ends from here on
  if (!/\d{16}/.test(json)) return document;
  return JSON.parse(json.replace(TEXT_OR_LONG_NUMBER, (found) => (isRounded(found) ? `"${found}"` : found)));
}

const isRounded = (found: string): boolean => !found.startsWith('"') && !Number.isSafeInteger(Number(found));
