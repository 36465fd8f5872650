import { z } from "zod";
import { ADDED_LATER } from "./added-later.ts";
import { ObserverView } from "./observers.ts";
import { page } from "./page.ts";
import { perStatus } from "./stats.ts";
import { Timestamp } from "./timestamp.ts";
import { WITHHELD, withoutStacks } from "./withheld.ts";

/** A text without ids, hashes, numbers and times, so that errors of one cause share it. */
export const ErrorGroupText = z
  .string()
  .min(1)
  .max(256)
  .refine((text) => !text.includes("\0"), "the character NUL is not allowed");

/** Entries of unacked.error with the same text. */
export const ErrorGroup = z
  .object({
    reason: z.string(),
    group: z.string().describe("what their details have in common; pass it as `group` to GET /errors"),
    count: z.int(),
    firstSeenAt: Timestamp,
    lastSeenAt: Timestamp,
    exampleId: z.string().describe("the newest of them"),
  })
  .meta({ id: "ErrorGroup" });
export type ErrorGroup = z.infer<typeof ErrorGroup>;

/** Lists the largest group first. */
export const ErrorGroupList = z.object({ items: z.array(ErrorGroup), total: z.int() }).meta({ id: "ErrorGroupList" });
export type ErrorGroupList = z.infer<typeof ErrorGroupList>;

/** Observers whose last errors have the same text. */
export const ObserverErrorGroup = z
  .object({
    group: z
      .string()
      .describe("what the errors have in common; pass it as `errorGroup` to the list of observers, to stop and to restart"),
    total: z.int(),
    byStatus: perStatus,
    firstSeenAt: Timestamp.describe("of their last errors, the one that is longest ago"),
    lastSeenAt: Timestamp,
    example: ObserverView.pick({ id: true, name: true, status: true, lastError: true }).describe("the newest of them"),
  })
  .meta({ id: "ObserverErrorGroup" });
export type ObserverErrorGroup = z.infer<typeof ObserverErrorGroup>;

/** GET /stats/errors: the errors of observers that are not Deleted. The largest group comes first. */
export const ObserverErrors = z
  .object({ items: z.array(ObserverErrorGroup), total: z.int().describe("groups, not only those here") })
  .meta({ id: "ObserverErrors" });
export type ObserverErrors = z.infer<typeof ObserverErrors>;

export const ErrorEntry = z
  .object({
    id: z.string(),
    reason: z.string(),
    detail: z.string(),
    group: z.string().describe("what details of one cause have in common: a filter of the list"),
    queue: z.string(),
    observerId: z.uuid().nullable(),
    observerName: z
      .string()
      .nullable()
      .describe("null: it is about no observer, or one that is not known (any more)")
      .register(ADDED_LATER, { means: null }),
    runId: z.uuid().nullable(),
    reporter: z.string().describe("the service or manager that reported it"),
    body: z
      .string()
      .describe("the message as it was, cut; to viewers without the stacks, and lines of source, in it")
      .register(WITHHELD, { from: "operator", instead: withoutStacks }),
    bodyBytes: z.int().describe("how long it was before the cut"),
    at: Timestamp,
  })
  .meta({ id: "ErrorEntry" });
export type ErrorEntry = z.infer<typeof ErrorEntry>;

export const ErrorPage = page(ErrorEntry).meta({ id: "ErrorPage" });
export type ErrorPage = z.infer<typeof ErrorPage>;
