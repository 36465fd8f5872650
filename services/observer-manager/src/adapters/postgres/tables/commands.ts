import { EntitySchema } from "typeorm";
import { column, identity, nullable } from "./column.ts";

/** What is to be sent, and when: the outbox and every timer. A row goes when it is confirmed or answered. */
export const CommandsTable = new EntitySchema({
  name: "Command",
  tableName: "commands",
  columns: {
    id: identity(),
    /** start, stop, stop-run, restart-run, move-run, admit, tell-checkpoint, update-run, report-inventory, probe, drain, cordon, uncordon, step-aside, reload: each with the columns that address it. */
    kind: column("text"),
    observerId: nullable("uuid", "observer_id"),
    revision: nullable("integer"),
    serviceId: nullable("uuid", "service_id"),
    generation: nullable("integer"),
    runId: nullable("uuid", "run_id"),
    messageId: nullable("uuid", "message_id"),
    /** Why a run is to stop; `unknown-type`: a start that a service has sent back. */
    reason: nullable("text"),
    traceContext: nullable("text", "trace_context"),
    /** While it is claimed: when the claim runs out. */
    dueAt: column("timestamptz", "due_at"),
    sentCount: column("integer", "sent_count"),
    createdAt: column("timestamptz", "created_at"),
    claimId: nullable("uuid", "claim_id"),
    claimedAt: nullable("timestamptz", "claimed_at"),
  },
  indices: [
    { name: "commands_one_per_observer", unique: true },
    { name: "commands_one_per_run", unique: true },
    { name: "commands_one_of_admission", unique: true },
    { name: "commands_one_of_update", unique: true },
    { name: "commands_one_move", unique: true },
    { name: "commands_one_per_generation", unique: true },
    { name: "commands_due" },
  ],
});
