/**
 * A decimal number without rounding: `units / 10^scale`. Exchanges send prices as decimal texts; binary fractions would
 * make "moved by exactly 0.5 %" depend on how the formula is written.
 */
export type Decimal = { readonly units: bigint; readonly scale: number };

const pattern = /^(\d{1,30})(?:\.(\d{1,30}))?$/;

/** Reads a plain decimal text from 0 up ("0.7904", no sign, no exponent), else `undefined`. */
export function parseDecimal(text: string): Decimal | undefined {
  const match = pattern.exec(text);
  if (match === null) return undefined;
  const [, whole = "", fraction = ""] = match;
  return { units: BigInt(whole + fraction), scale: fraction.length };
}

/** `decimal × 10^scale` as a whole number; `scale` must not be below the decimal's own. */
export function unitsAt(decimal: Decimal, scale: number): bigint {
  return decimal.units * 10n ** BigInt(scale - decimal.scale);
}
