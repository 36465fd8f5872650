import type { AuditedActor } from "../../domain/access/identity.ts";

/** In whose name a schedule cancels tasks, and pauses and resumes observers. */
export const scheduleActor = (id: string): AuditedActor => ({
  name: id,
  role: "operator",
  authentication: "schedule",
  address: "schedule",
  requestId: `schedule ${id}`,
});
