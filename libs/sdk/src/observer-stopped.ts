/**
 * Why a run is told to stop.
 *
 * - `stopped`: somebody stopped the observer, or paused it
 * - `restarted`: it starts again, here or elsewhere, when this run has settled
 * - `superseded`: another run of it is the current one
 * - `lease-lost`: the broker may already have given it to another service; stop at once, nothing else counts
 * - `draining`: the service is being drained or goes down, another one takes the observer over
 * - `failed`: an error that nobody caught (a timer, a socket, a rejection) was attributed to this run, it was silent for longer than
 *   it may, or the time of a task's attempt is up (`timeoutMs`); the `cause` says it
 *
 * Those of a task say the same of its attempt: after `restarted` it begins again, after `superseded` it was sent again, and another
 * attempt counts.
 */
export const stopCodes = ["stopped", "restarted", "superseded", "lease-lost", "draining", "failed"] as const;

/** Why a run is told to stop: one of {@link stopCodes}. */
export type StopCode = (typeof stopCodes)[number];

const brand = Symbol.for("unacked.observer-stopped");

/** Of an observer and of a task alike. */
const defaultMessages: Record<StopCode, string> = {
  stopped: "it was stopped",
  restarted: "it begins again",
  superseded: "another run of it is the current one",
  "lease-lost": "its service lost its lease, and it may be running elsewhere",
  draining: "its service is being drained, or ends: it begins again elsewhere",
  failed: "an error that nobody caught was attributed to it",
};

/** The `reason` of a run's `signal`: an error, so that `signal.throwIfAborted()` and `fetch` throw something readable. */
export class ObserverStopped extends Error {
  /** Always `ObserverStopped`. */
  override readonly name = "ObserverStopped";
  /** Why. */
  readonly code: StopCode;

  constructor(code: StopCode, message: string = defaultMessages[code], options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    Object.defineProperty(this, brand, { value: 1 });
  }
}

/** Whether a caught value is a stop and no failure. Recognises the class across copies of this package. */
export function isObserverStopped(value: unknown): value is ObserverStopped {
  return value instanceof Error && brand in value;
}
