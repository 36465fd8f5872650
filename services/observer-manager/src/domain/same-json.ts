import { isDeepStrictEqual } from "node:util";

/** Whether both are the same once they are JSON: without what is undefined, with one zero (−0 is 0 there), and in whatever order fields were written. */
export const sameJson = (one: unknown, other: unknown): boolean =>
  isDeepStrictEqual(one, other) || isDeepStrictEqual(asJson(one), asJson(other));

const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
