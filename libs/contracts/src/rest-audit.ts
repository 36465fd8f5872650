import { z } from "zod";
import { Authentication, Role } from "./access.ts";

/** What somebody did, that changed something. */
export const AuditedDeed = z.enum([
  "observer.create",
  "observer.stop",
  "observer.restart",
  "error.retry",
  "error.delete",
  "service.drain",
]);
export type AuditedDeed = z.infer<typeof AuditedDeed>;

/** Of a deed on many, so many are named. */
export const MAX_AUDITED_TARGETS = 10;

export const AuditedTarget = z.object({
  kind: z.enum(["observer", "error", "service"]),
  id: z.string(),
  name: z.string().nullable().describe("as it was then; null: it has none"),
});
export type AuditedTarget = z.infer<typeof AuditedTarget>;

/** One call that changed something, kept in the very transaction of the change. */
export const AuditEntry = z
  .object({
    id: z.uuid(),
    at: z.iso.datetime(),
    actor: z.object({
      name: z.string(),
      role: Role,
      authentication: Authentication,
      address: z.string().describe("where the call came from"),
    }),
    deed: AuditedDeed,
    count: z.int().describe("how many it was done to: those that were accepted"),
    targets: z.array(AuditedTarget).describe(`the first ${MAX_AUDITED_TARGETS} of them`),
    details: z.record(z.string(), z.unknown()).describe("what else was asked: the filter, force"),
    requestId: z.string().describe("the same as the call's X-Request-Id"),
  })
  .meta({ id: "AuditEntry" });
export type AuditEntry = z.infer<typeof AuditEntry>;

/** GET /audit. The newest first. */
export const AuditPage = z
  .object({
    items: z.array(AuditEntry),
    total: z.int().describe("all that match the filter, not only this page"),
    nextCursor: z.string().nullable().describe("pass as `cursor` for the next page; null on the last"),
  })
  .meta({ id: "AuditPage" });
export type AuditPage = z.infer<typeof AuditPage>;
