import { jsonText } from "./document-text.ts";
import { plainText } from "./plain-text.ts";

interface ShownDifference {
  path: string;
  is: unknown;
  wanted: unknown;
}

/** One line for each difference, for below the thing that differs. */
export const differenceLines = (differences: readonly ShownDifference[]): string[] =>
  differences.map((one) => `  ${differenceText(one)}`);

/** Writes `params.everyMs: 500 -> 700`. */
export function differenceText({ path, is, wanted }: ShownDifference): string {
  const written = (value: unknown) => (value === undefined ? "nothing" : jsonText(value));
  return `${plainText(path)}: ${written(is)} -> ${written(wanted)}`;
}
