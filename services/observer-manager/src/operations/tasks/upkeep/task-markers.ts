import type { Source } from "../../../domain/observers/current-run.ts";

/** It waits behind long tasks, and has expired by then. */
export const MARKER_LIVES_MS = 600_000;

/** What a proof asks of the broker, and through it of services. */
export interface TaskMarkers {
  /** For how long the broker has taken messages, in ms; 0 while it does not. */
  readonly writableForMs: number;
  sendMarker(pool: string, markerId: string): Promise<void>;
  /** @returns false where that session has ended, as the broker says. Whatever else goes wrong is a service that lives. */
  ask(service: Source, markerId: string): Promise<boolean>;
  /** Asks the broker whether the session lives, with no question to the service. */
  lives(service: Source): Promise<boolean>;
  /** The messages of the pool's task queue that nobody holds, and sessions that take them. Null while that is not known. */
  queue(pool: string): Promise<{ ready: number; consumers: number } | null>;
}
