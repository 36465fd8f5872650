import type { FieldErrors } from "./params-of.ts";

interface Told {
  pointer?: string | undefined;
  message: string;
}

/**
 * Puts what the manager found wrong at the field that it is about: the one whose pointer is the longest beginning of the told
 * one. What belongs to no field is for the form as a whole.
 */
export function placeErrors(told: readonly Told[], pointers: readonly string[]): { errors: FieldErrors; rest: string[] } {
  const errors: Record<string, string> = {};
  const rest: string[] = [];
  for (const { pointer = "", message } of told) {
    const home = pointers
      .filter((each) => pointer === each || pointer.startsWith(`${each}/`))
      .reduce<string | undefined>(
        (best, each) => (best === undefined || each.length > best.length ? each : best),
        undefined,
      );
    const inside = home === undefined ? "" : pointer.slice(home.length);
    if (home === undefined) rest.push(pointer === "" ? message : `${pointer}: ${message}`);
    else errors[home] = [errors[home], inside === "" ? message : `${inside}: ${message}`].filter(Boolean).join("; ");
  }
  return { errors, rest };
}
