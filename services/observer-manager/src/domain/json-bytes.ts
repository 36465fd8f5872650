import { furtherDigits, MAX_PARAMS_BYTES } from "@unacked/contracts";

const MAY_HAVE_EXPONENT = /\de[+-]/;

/** How long a JSON value is as PostgreSQL gives it back: jsonb keeps numbers by their digits, so that the six characters of 1e+308 become 309. */
export function bytesOfJsonb(value: unknown): number {
  const { bytes, digits } = lengthsOf(value);
  return bytes + digits;
}

/** Whether the JSON is too long, or what PostgreSQL adds to it. */
export function areTooLarge(params: unknown): boolean {
  const { bytes, digits } = lengthsOf(params);
  return Math.max(bytes, digits) > MAX_PARAMS_BYTES;
}

function lengthsOf(value: unknown): { bytes: number; digits: number } {
  const json = JSON.stringify(value);
  return { bytes: Buffer.byteLength(json), digits: MAY_HAVE_EXPONENT.test(json) ? digitsIn(value) : 0 };
}

function digitsIn(value: unknown): number {
  let digits = 0;
  JSON.stringify(value, (_, item: unknown) => {
    if (typeof item === "number") digits += furtherDigits(item);
    return item;
  });
  return digits;
}
