import type { Bundle } from "../../../domain/tasks/bundles.ts";
import type { UnwantedSend } from "../unwanted-send.ts";

/** The broker, for tasks. */
export interface TaskSender {
  /** Resolves when messages can be sent: connected and not blocked by an alarm. */
  ready(signal: AbortSignal): Promise<void>;
  /** Whether that is so now. */
  readonly isReady: boolean;
  /** Sends one message: of one pool and type. `not-taken`: certainly in no queue · `unknown`: nobody knows. Never rejects. */
  send(bundle: Bundle): Promise<"sent" | "not-taken" | "unknown">;
  /**
   * Orders it once. What is lost is ordered again: of what the books have, while they do; of all else when its service says again that it
   * runs. Never rejects.
   */
  cancel(sends: UnwantedSend[]): Promise<void>;
}
