import { plainText } from "./plain-text.ts";

/** `params.everyMs: 500 -> 700` */
export function differenceText({ path, is, wanted }: { path: string; is: unknown; wanted: unknown }): string {
  const written = (value: unknown) => (value === undefined ? "nothing" : plainText(JSON.stringify(value)));
  return `${plainText(path)}: ${written(is)} -> ${written(wanted)}`;
}
