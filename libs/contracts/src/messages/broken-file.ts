import { z } from "zod";
import { count, shownText } from "../bounds.ts";
import { WITHHELD } from "../rest/withheld.ts";

/** A place in a source file; line and column count from 1. */
export const SourcePlace = z.object({
  file: shownText(1_000),
  line: count(1),
  column: count(1),
});
export type SourcePlace = z.infer<typeof SourcePlace>;

/** A file of observers that a service cannot use. Only the types in it are missing then. */
export const BrokenFile = z
  .object({
    file: shownText(1_000).describe("as the service sees it on its own disk"),
    problem: shownText(2_000).describe("why, in one sentence"),
    place: SourcePlace.optional().describe("where, if it is known; perhaps in a file that it imports"),
    excerpt: shownText(1_000)
      .optional()
      .describe("the lines around it, with a mark below the column. For operators and admins")
      .register(WITHHELD, { from: "operator" }),
  })
  .meta({ id: "BrokenFile" });
export type BrokenFile = z.infer<typeof BrokenFile>;

/** How many of them a service announces. All are in its log. */
export const MAX_BROKEN_FILES = 20;
