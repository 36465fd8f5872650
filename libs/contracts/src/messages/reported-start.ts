import type { z } from "zod";
import { Checkpoint } from "../checkpoint.ts";
import { FencingToken } from "../ids.ts";
import { isJson } from "./parse-json.ts";
import { StartObserver } from "./start-observer.ts";

/**
 * The body of a report about a run that the database did not know: the start that it was given, and for an admitted run how far it had got.
 * A mistake in that is ignored, so that its observer comes back without it, rather than not at all.
 */
export const ReportedStart = StartObserver.extend({
  fencingToken: FencingToken.optional().catch(undefined),
  /** What it had saved last, or else was given. */
  checkpoint: Checkpoint.refine(({ value }) => isJson(value), "is no JSON")
    .optional()
    .catch(undefined),
});
export type ReportedStart = z.infer<typeof ReportedStart>;
