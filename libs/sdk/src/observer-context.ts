/** Severities of a run's log, mildest first. */
export type LogLevel = "debug" | "info" | "warn" | "error";

/** What is logged beside the message. Values that are not JSON are written as the service's logger can. */
export type LogFields = Readonly<Record<string, unknown>>;

/** A run's log. Each line carries the observer and the run already. */
export type ObserverLog = Readonly<Record<LogLevel, (message: string, fields?: LogFields) => void>>;

/** Who is running. The same over all runs of the observer, but for labels, which can be changed. */
export type ObserverIdentity = {
  /** UUID. */
  readonly id: string;
  /** Unique among the observers that are not deleted. */
  readonly name: string;
  readonly type: string;
  readonly labels: Readonly<Record<string, string>>;
};

/** Everything a handler gets. */
export type ObserverContext<P = unknown> = {
  /** The observer's params, as its type's schema gave them back (defaults filled in). */
  readonly params: P;
  /**
   * Aborts when the run has to end; `signal.reason` is an `ObserverStopped` that says why. A handler that has not
   * settled soon after holds up its successor, and after a lost lease makes the service exit.
   */
  readonly signal: AbortSignal;
  readonly log: ObserverLog;
  /**
   * Publishes a JSON value to the exchange `unacked.output` with the routing key `<type>.<name>` (dots of the type
   * as colons). The value is written as JSON before the call returns, so it may be changed afterwards.
   *
   * Resolves when the broker has confirmed it. Rejects when it was not confirmed (the broker's or publisher's error),
   * when the value is no JSON (`event-not-json`) or when the run has ended (`emit-after-end`). Rejects with an
   * `ObserverStopped` when the lease is lost, whether it waits then or is called later, and when it still waits for its
   * confirm 25 s (`STOP_TIMEOUT_MS`) after any other stop; that one event may have been sent or not.
   *
   * It need not be awaited: a rejection that nobody looks at is logged as a warning and harms nobody. Await it to go no
   * faster than the broker.
   */
  readonly emit: (event: unknown) => Promise<void>;
  readonly observer: ObserverIdentity;
  /** UUID of this run; the next run of the same observer has another. */
  readonly runId: string;
};
