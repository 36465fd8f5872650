import { z } from "zod";
import { ObserverId, ObserverName } from "../ids.ts";
import { ObserverFilter } from "./observer-filter.ts";
import { CreateObserver, ObserverView, whenFull } from "./observers.ts";
import { ProblemDetails } from "./problem-details.ts";

/** How many observers one call creates, or names. */
export const MAX_BULK = 10_000;
/** POST /observers/batch */
export const MAX_BATCH_BODY_BYTES = 33_554_432;
/** POST /observers/stop, /restart, /pause and /resume: 10,000 names of full length. */
export const MAX_REFS_BODY_BYTES = 2_097_152;
/** The bound for one observer of a batch. One that is created alone has the body's own limit. */
export const MAX_PARAMS_BYTES = 262_144;

/** POST /observers/batch. Each observer is checked by itself: a wrong one gets its own answer, and the others go on. */
export const CreateObservers = z
  .strictObject({
    observers: z.array(CreateObserver).min(1).max(MAX_BULK),
    atomic: z.boolean().default(false).describe("all or none; the innocent are answered `batch-refused`"),
  })
  .meta({ id: "CreateObservers" });
export type CreateObservers = z.infer<typeof CreateObservers>;

const accepted = { status: z.int().describe("as the single call would have answered"), observer: ObserverView };
/** Pointers are relative to the one observer. */
const refused = { status: z.int(), problem: ProblemDetails };

/** Results in the order of the request. */
export const BatchResults = z
  .object({ results: z.array(z.union([z.object(accepted), z.object(refused)])) })
  .meta({ id: "BatchResults" });
export type BatchResults = z.infer<typeof BatchResults>;

/** The answer to `Prefer: return=minimal`: only what the client cannot know of each. */
export const ObserverReceipts = z
  .object({
    results: z.array(
      z.union([
        z.object({ status: accepted.status, observer: ObserverView.pick({ id: true, name: true }) }),
        z.object(refused),
      ]),
    ),
  })
  .meta({ id: "ObserverReceipts" });
export type ObserverReceipts = z.infer<typeof ObserverReceipts>;

const target = {
  ids: z.array(ObserverId).min(1).max(MAX_BULK).optional(),
  names: z.array(ObserverName).min(1).max(MAX_BULK).optional(),
  filter: ObserverFilter.optional().describe("alone: all that match; with ids: only those of them that match still"),
  all: z.boolean().default(false).describe("needed with an empty filter, or alone: every observer that is not Deleted"),
  dryRun: z.boolean().default(false).describe("answers as if, and changes nothing"),
};

type Target = z.infer<z.ZodObject<typeof target>>;

/** Whether a filter narrows anything. One that does not would mean all. */
export function saysWhich(filter: ObserverFilter | undefined): boolean {
  const { labels = {}, ...rest } = filter ?? {};
  return Object.keys(labels).length > 0 || Object.values(rest).some((value) => value !== undefined);
}

function targetFlaw({ ids, names, filter, all }: Target): { key: string; message: string } | undefined {
  const count = (ids?.length ?? 0) + (names?.length ?? 0);
  if (count > MAX_BULK) return { key: "names", message: `ids and names are at most ${MAX_BULK} together` };
  if (names && filter) return { key: "filter", message: "not together with names" };
  if (count > 0 && all) return { key: "all", message: "not together with ids or names" };
  if (count > 0) return undefined;
  if (saysWhich(filter)) return all ? { key: "all", message: "not together with a filter that says which" } : undefined;
  if (all) return undefined;
  if (filter) return { key: "all", message: "must be true with an empty filter: it means every observer" };
  return { key: "", message: "needs ids or names, or a filter" };
}

function refuseTargetFlaw(given: Target, context: z.RefinementCtx): void {
  const flaw = targetFlaw(given);
  if (flaw) context.addIssue({ code: "custom", path: flaw.key === "" ? [] : [flaw.key], message: flaw.message });
}

/** POST /observers/stop: stops some by ids and names, those of the ids that match, or all that match. */
export const StopRequest = z
  .strictObject({
    ...target,
    force: z.boolean().default(false).describe("also what has not started, or what nobody answers for"),
  })
  .superRefine(refuseTargetFlaw)
  .meta({ id: "StopRequest" });
export type StopRequest = z.infer<typeof StopRequest>;

/** POST /observers/restart */
export const RestartRequest = z.strictObject(target).superRefine(refuseTargetFlaw).meta({ id: "RestartRequest" });
export type RestartRequest = z.infer<typeof RestartRequest>;

/** POST /observers/pause */
export const PauseRequest = z.strictObject(target).superRefine(refuseTargetFlaw).meta({ id: "PauseRequest" });
export type PauseRequest = z.infer<typeof PauseRequest>;

/** POST /observers/resume. If workers are few, it is first come, first served. */
export const ResumeRequest = z
  .strictObject({ ...target, whenFull })
  .superRefine(refuseTargetFlaw)
  .meta({ id: "ResumeRequest" });
export type ResumeRequest = z.infer<typeof ResumeRequest>;

const ref = { ref: z.string().describe("the id or name as it was given") };

/** Results for ids and names, in the order given, ids first. With a filter only those that match are listed. */
export const BulkResults = z
  .object({ results: z.array(z.union([z.object({ ...ref, ...accepted }), z.object({ ...ref, ...refused })])) })
  .meta({ id: "BulkResults" });
export type BulkResults = z.infer<typeof BulkResults>;

/** The counts for a filter alone. */
export const BulkCount = z
  .object({
    matched: z.int(),
    accepted: z.int(),
    refused: z.record(z.string(), z.int()).describe("how many by the code of their problem"),
  })
  .meta({ id: "BulkCount" });
export type BulkCount = z.infer<typeof BulkCount>;
