import type { LossReason } from "./loss-reason.ts";
import type { Session } from "./session.ts";

/** What the owner of a supervised connection does in its life. */
export interface ConnectionHooks {
  /**
   * Runs on each new connection. If it throws (or takes 60 s), that is `setup-failed`: the connection is torn down, and
   * after a delay there is another. If the session is lost meanwhile, whatever the build still asks of it rejects, and the
   * build of the next one does not wait for it.
   */
  build(session: Session): Promise<void>;
  /**
   * Called synchronously, once for each generation that connected, before anything is closed or rebuilt. If it returns a
   * promise and the connection still stands (a channel closed alone, a cancelled consumer, `end`), the connection is kept
   * until that settles, one heartbeat at most: until then the broker gives none of its messages to others.
   */
  onLost?(generation: number, reason: LossReason): void | Promise<void>;
  /** Called when more is known about the last loss, before the next build. */
  onLossExplained?(generation: number, reason: LossReason): void;
  /** The build is done. */
  onUp?(generation: number): void;
  /** The broker blocks what this connection publishes (memory or disk alarm), or no longer does. */
  onBlocked?(blocked: boolean): void;
}

export interface ConnectionStatus {
  /** Connected and built. */
  up: boolean;
  /** The broker told this connection that it takes no publishes. It tells only a connection that has tried to publish. */
  blocked: boolean;
  /** 0 before the first connect. */
  generation: number;
  lastLoss?: LossReason;
}
