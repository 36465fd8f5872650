import type { RunEndReason } from "@unacked/contracts";

/** What one batch of events changed, for metrics. It decides nothing. */
export type Happening =
  | { kind: "run-started" }
  | { kind: "run-ended"; reason: RunEndReason }
  /** The observer's next run is known. `withoutRunMs`: since the books knew that it had none; 0 when they met the next one first. */
  | { kind: "failed-over"; withoutRunMs: number }
  /** A service dropped a second message of a revision that it runs. */
  | { kind: "duplicate-dropped" }
  | { kind: "service-ended"; how: "Stopped" | "Gone" };
