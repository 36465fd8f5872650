/** Severities of a run's log, mildest first. */
export type LogLevel = "debug" | "info" | "warn" | "error";

/** What is logged beside the message, by name. Values that are not JSON are written as the service's logger can. */
export type LogFields = Readonly<Record<string, unknown>>;

/** The log of a run, a function for each level. Each line carries the observer, or the task, and the run already. */
export type ObserverLog = Readonly<Record<LogLevel, (message: string, fields?: LogFields) => void>>;

/** Who is running. The same over all runs of the observer, but for labels, which can be changed. */
export type ObserverIdentity = {
  /** UUID. */
  readonly id: string;
  /** Unique among the observers that are not deleted. */
  readonly name: string;
  /** The name of its type, as its definition has it. */
  readonly type: string;
  /** What its creator wrote on it, to find it by; `{}`: nothing. */
  readonly labels: Readonly<Record<string, string>>;
};

/** Everything that the handler of an observer gets. `P` is the params after parsing. */
export type ObserverContext<P = unknown> = {
  /** The observer's params, as its type's schema gave them back (defaults filled in). */
  readonly params: P;
  /**
   * Aborts when the run has to end; `signal.reason` is an `ObserverStopped` that says why. A handler that has not
   * settled soon after holds up its successor, and after a lost lease makes the service exit.
   */
  readonly signal: AbortSignal;
  /** Its log; the newest lines can be read over REST. */
  readonly log: ObserverLog;
  /**
   * Publishes a JSON value to the exchange `unacked.output` with the routing key `<type>.<name>` (dots of the type
   * as colons). The value is written as JSON before the call returns, so it may be changed afterwards.
   *
   * Resolves when the broker has confirmed it. Rejects when it was not confirmed (the broker's or publisher's error),
   * when the value is no JSON (`event-not-json`) or when the run has ended (`emit-after-end`). Rejects with an
   * `ObserverStopped` when the lease is lost, whether it waits then or is called later, and after any other stop when half of what is
   * left of `STOP_TIMEOUT_MS` (25 s) has gone by without a confirm; that one event may have been sent or not.
   *
   * It need not be awaited: a rejection that nobody looks at is logged as a warning and harms nobody. Await it to go no
   * faster than the broker.
   */
  readonly emit: (event: unknown) => Promise<void>;
  /**
   * Says that it hears something, though it has nothing to emit: where it is watched for silence (`silence` of the type or the
   * observer), an emit or this is a beat. Costs next to nothing; call it for each message of a feed.
   */
  readonly alive: () => void;
  /** Who is running. */
  readonly observer: ObserverIdentity;
  /** UUID of this run; the next run of the same observer has another. */
  readonly runId: string;
};

/** What the handler of a type with `start: "admitted"` gets besides. */
export type AdmittedContext = {
  /**
   * The fencing token: a number that is higher in each later run of the observer, wherever it runs. Write it beside what you write
   * elsewhere, and refuse there what bears a lower one (`WHERE fencing_token <= $1`): then a run that has not noticed yet that
   * another has taken over cannot spoil what the other writes. A whole number below 2^53; a `bigint` in SQL.
   */
  readonly fencingToken: number;
};

/** What the handler of a type with a `checkpoint` gets besides: `Given` is what its schema gives back, `Saved` what it takes. */
export type CheckpointContext<Given, Saved = Given> = AdmittedContext & {
  /** The last one that a run of the observer has saved, or that somebody has set; undefined: none yet, or it was reset. */
  readonly checkpoint: Given | undefined;
  /**
   * Saves where this run has got to: the next run of the observer starts with it, or with a later one. Resolves when the broker has
   * confirmed it and the lease was held still.
   *
   * It is checked by the type's schema (`invalid-checkpoint`) and at most 64 KiB as JSON (`checkpoint-too-large`), written before the
   * call returns. One a second is passed on (`CHECKPOINT_EVERY_MS`); of those that come faster the latest, which all wait for: who
   * awaits it for each item has one item a second. It need not be awaited; a rejection that nobody looks at is a warning in the log. It goes
   * behind what the run has emitted, and rejects where some of that could not be; with an `ObserverStopped` when the lease is lost.
   */
  readonly saveCheckpoint: (value: Saved) => Promise<void>;
};
