import type { SendId, TaskId, TaskView } from "@unacked/contracts";

export type InsertOutcome =
  /** `sendId`: it is Sent, and whoever has created it publishes it; null: it waits. */
  | (Accepted<"created"> & { sendId: SendId | null })
  | Accepted<"exists" | "returned" | "replaced" | "queued">
  | { kind: "taken" }
  | { kind: "key-taken"; winner: TaskId }
  /** A task has it in a pool that whoever asks may not have: nothing more is said of it. */
  | { kind: "key-elsewhere" }
  /** Somebody's transaction has its key, and has not ended. */
  | { kind: "held-up" };

/** The task that it made, or that was there: its id, and the whole of it for whom it is to be shown to, which nobody is where thousands are made. */
export interface Accepted<Kind extends string> {
  kind: Kind;
  id: TaskId;
  task(): TaskView;
  /** It is one of many that are there, and shown without params and result. */
  isShort?: boolean;
}
