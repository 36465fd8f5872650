import type { AuditedActor } from "../../domain/access/identity.ts";

/** A schedule cancels tasks, and pauses and resumes observers, in this name. */
export const scheduleActor = (id: string): AuditedActor => ({
  name: id,
  role: "operator",
  authentication: "schedule",
  address: "schedule",
  requestId: `schedule ${id}`,
});
