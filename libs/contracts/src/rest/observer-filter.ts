import { z } from "zod";
import { flag, listOf } from "../calls/query-fields.ts";
import { Labels, MAX_LABELS, PoolName, ServiceName, TypeName } from "../ids.ts";
import { ObserverStatus } from "../states/states.ts";
import { ErrorGroupText } from "./errors.ts";

/** A part of a name, in any case, without wildcards. */
export const NamePart = z
  .string()
  .min(1)
  .max(128)
  .refine((text) => !text.includes("\0"), "the character NUL is not allowed");

/** The fields of a filter, in whatever form it is written. They are combined by "and". */
const fields = {
  service: ServiceName.describe("name or id of the service it runs on now"),
  pool: PoolName,
  q: NamePart.describe("a part of the name, in any case, or the whole id"),
  errorGroup: ErrorGroupText.describe("the group of the last error, as in GET /stats/errors"),
};

const SILENT = "only those that run and have been silent for longer than they may";

/** The filters of GET /observers as an object. Without `status`: every observer that is not Deleted. */
export const ObserverFilter = z
  .strictObject({
    status: z.union([ObserverStatus, z.array(ObserverStatus).min(1).max(50)]),
    type: TypeName,
    service: fields.service,
    pool: fields.pool,
    labels: Labels.describe(`up to ${MAX_LABELS}: all must match`),
    q: fields.q,
    errorGroup: fields.errorGroup,
    silent: z.literal(true).describe(SILENT),
  })
  .partial()
  .meta({ id: "ObserverFilter" });
export type ObserverFilter = z.infer<typeof ObserverFilter>;

/** The same filters in the query of GET /observers. */
export const observerFilterQuery = {
  status: listOf(ObserverStatus).optional().describe("repeat it, or separate by commas"),
  type: TypeName.optional().describe("the name of an observer type"),
  service: fields.service.optional().describe("name or id of the service it runs on now"),
  pool: fields.pool.optional().describe("the pool of services it belongs to"),
  label: listOf(z.string().max(260), false).optional().describe("`key=value` or `key:value`; repeat it: all must match"),
  q: fields.q.optional().describe("a part of the name, in any case, or the whole id"),
  errorGroup: fields.errorGroup.optional().describe("the group of the last error, as in GET /stats/errors"),
  silent: flag.describe(SILENT),
};
