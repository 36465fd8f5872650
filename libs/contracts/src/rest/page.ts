import { z } from "zod";

/** A body over this is answered 413. */
export const MAX_REQUEST_BODY_BYTES = 262_144;

/** How a page relates to the whole list. */
export const ofWhole = {
  total: z.int().describe("all that match the filter, not only this page"),
  nextCursor: z.string().nullable().describe("pass as `cursor` for the next page; null on the last"),
};

/** A list: the items, and how they relate to the whole. */
export const page = <Item extends z.ZodType>(item: Item) => z.object({ items: z.array(item), ...ofWhole });
