import { type Document, type Scalar, visit } from "yaml";

/** Parses JSON. Throws if it is not valid, or if a number in it would change before it is sent. */
export function jsonValue(text: string): unknown {
  const value: unknown = JSON.parse(text);
  let isInText = false;
  for (const [token] of text.matchAll(QUOTES_AND_NUMBERS)) {
    if (token === '"') isInText = !isInText;
    else if (!isInText) refuseOther(token, Number(token));
  }
  return value;
}

/** Does the same for YAML. */
export function yamlValue(document: Document): unknown {
  visit(document, {
    Scalar: (_key, { value, source }: Scalar) => {
      if (typeof value === "number") refuseOther(source ?? String(value), value);
    },
  });
  return document.toJS() as unknown;
}

/**
 * Matches escapes as well, so that a quote in a text does not end it. It does not match whole texts, as their length would be
 * the stack's depth.
 */
const QUOTES_AND_NUMBERS = /"|\\.|-?\d[\d.eE+-]*/g;

/**
 * Numbers are doubles here (IEEE 754): 2^53 + 1 would become 2^53, the id of something else, and JSON writes what no double holds as
 * null (ECMA-262, JSON.stringify). A larger number that `get` printed comes back as it is.
 */
function refuseOther(written: string, value: number): void {
  if (!Number.isFinite(value)) throw new Error(`${written} is a number that JSON does not have`);
  if (Number.isSafeInteger(value)) return;
  const [sent, whole] = [String(value), wholeOf(written)];
  if (whole === undefined || whole === wholeOf(sent)) return;
  throw new Error(`${written} has too many digits: it would be rounded to ${sent}`);
}

/**
 * The whole number that is written, whether as `9007199254740993`, `9007199254740993.0`, `9.5e20` or `0x1F`. Undefined for other numbers.
 */
function wholeOf(written: string): bigint | undefined {
  if (/^0[xo]/.test(written)) return BigInt(written);
  const [, sign, before = "", after = "", exponent = "0"] = DECIMAL.exec(written) ?? [];
  const digits = (before + after).replace(/0+$/, "");
  const zeros = Number(exponent) + before.length - digits.length;
  return zeros < 0 ? undefined : BigInt(`${sign === "-" ? "-" : ""}${digits}${"0".repeat(zeros)}`);
}

const DECIMAL = /^([-+]?)(\d*)(?:\.(\d*))?(?:e([-+]?\d+))?$/i;
