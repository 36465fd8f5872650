import { z } from "zod";

/** A parameter that may be repeated. */
export function listOf<Item extends z.ZodType>(item: Item, splitAtCommas = true) {
  const split = (text: unknown) => (splitAtCommas && typeof text === "string" ? text.split(",") : [text]);
  return z.preprocess((given) => (Array.isArray(given) ? given : [given]).flatMap(split), z.array(item).max(50));
}

/** A limit from `least` to `most`, 100 by default. */
export const limitFrom = (least: number, most = 1_000) =>
  z
    .preprocess(
      (given) => (typeof given === "string" && /^[0-9]{1,9}$/.test(given) ? Number(given) : given),
      z.int().min(least).max(most),
    )
    .default(100);

/** A text to search for in the database; PostgreSQL refuses one with a NUL. */
export const keptText = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .refine((text) => !text.includes("\0"), "the character NUL is not allowed");

/** The rows of a page. */
export const pageLimit = limitFrom(1).describe("how many on a page at most: one whose rows are long may end before");

const FLAGS: Record<string, boolean> = { "": true, "1": true, true: true, "0": false, false: false };

/** `?force`, `?force=true`, `?force=1`; false when absent. */
export const flag = z
  .preprocess((given) => (typeof given === "string" && Object.hasOwn(FLAGS, given) ? FLAGS[given] : given), z.boolean())
  .default(false);

const MAX_WAIT_S = 60;

/** `?wait=30s`: the answer comes when the thing is over, or after that time. */
export const waitSeconds = (what: string) =>
  z
    .string()
    .regex(/^([0-9]|[1-5][0-9]|60)s$/, `must be whole seconds up to ${MAX_WAIT_S}s, such as 30s`)
    .optional()
    .describe(`answers when the ${what} is over, or after so long: up to ${MAX_WAIT_S}s`);

/** Where the page before ended. */
export const pageCursor = z.string().max(256).optional().describe("`nextCursor` of the page before");
