import type { InventoryProof, MessageId, ObserverId, RunId, RunStopReason, ServiceId } from "@unacked/contracts";

/** There is one of a kind for an observer: the newest revision is what counts. */
export const TO_OBSERVER = ["start", "stop"] as const;

/** There is one of a kind for a run. */
export const TO_RUN = ["stop-run", "restart-run", "move-run", "admit", "tell-checkpoint", "update-run"] as const;

/** What is said to a service as a whole. `step-aside` is said once; the others but `probe` until they are answered. */
type ToService = "probe" | "drain" | "cordon" | "uncordon" | "step-aside";

/** What every order to one run says of it (run-fate.ts). */
interface OfRun {
  observerId: ObserverId;
  runId: RunId;
  messageId: MessageId;
  revision: number;
  serviceId: ServiceId;
  generation: number;
}

/** What is to be sent. The key says what there can be only one of. */
export type Command =
  /** `reason`: a service has sent the one before back. */
  | { kind: "start"; observerId: ObserverId; revision: number; delayMs: number; reason?: "unknown-type" }
  | { kind: "stop"; observerId: ObserverId; revision: number }
  | ({ kind: "stop-run"; reason: RunStopReason } & OfRun)
  | ({ kind: "admit" | "tell-checkpoint" | "update-run" | "move-run" } & OfRun)
  | { kind: "restart-run"; observerId: ObserverId; runId: RunId; serviceId: ServiceId; generation: number }
  | { kind: "report-inventory"; serviceId: ServiceId; generation: number; proof?: InventoryProof | null }
  | { kind: "reload"; serviceId: ServiceId; generation: number; reloadId: string }
  | { kind: ToService; serviceId: ServiceId; generation: number };

export const COMMAND_KINDS = [
  ...TO_OBSERVER,
  ...TO_RUN,
  "report-inventory",
  "probe",
  "drain",
  "cordon",
  "uncordon",
  "step-aside",
  "reload",
] as const satisfies Command["kind"][];

/** A command to be written, or one of that key to be forgotten. */
export type CommandChange = { want: Command } | { forget: CommandKey };

/** A command is a key as well: what it says of a run has the run's id, and what else has a service's id is said to that. */
export type CommandKey =
  | { kind: (typeof TO_OBSERVER)[number]; observerId: ObserverId }
  | { kind: (typeof TO_RUN)[number]; runId: RunId }
  | { kind: "report-inventory" | "reload" | ToService; serviceId: ServiceId; generation: number };

export function keyText(key: CommandKey): string {
  if ("runId" in key) return `${key.kind} ${key.runId}`;
  if ("serviceId" in key) return `${key.kind} ${key.serviceId} ${key.generation}`;
  return `${key.kind} ${key.observerId}`;
}
