// Without zod: the status page is made of this too, and is not to carry it.

export interface StatusTraits {
  /**
   * What there is of a run. `awaited`: none, and one is to come · `current`: one · `ending`: one that is told to stop, or one
   * that was lost before it could be · `none`: the observer is over.
   */
  run: "awaited" | "current" | "ending" | "none";
  /** Its handler threw last, and somebody may want to look. */
  isFailing: boolean;
  /** What ends it for good: `gently` a stop, `by-force` only one with force, `no`: nothing more. */
  stop: "gently" | "by-force" | "no";
  /** Whether it can be run again from the beginning. */
  canRestart: boolean;
}

const well = { isFailing: false, stop: "gently", canRestart: true } as const;
const unwell = { ...well, isFailing: true } as const;

/**
 * Where an observer stands in the books, and all that lists of statuses are made of. One more is a line here, and what the
 * compiler names then: its row of the machine, its looks, its colour. The books' CHECK takes a migration.
 */
export const STATUS_TRAITS = {
  /** Sent, nobody has it yet. */
  Created: { run: "awaited", isFailing: false, stop: "by-force", canRestart: false },
  /** A run is current. */
  Processing: { run: "current", ...well },
  /** Its handler threw and waits, still unacked. */
  Retrying: { run: "current", ...unwell },
  /** Its service died or let go, the broker is giving it to another. */
  Redistributing: { run: "awaited", ...well, canRestart: false },
  /** A stop was broadcast and is not yet answered. */
  OnDeleting: { run: "ending", isFailing: false, stop: "by-force", canRestart: false },
  Deleted: { run: "none", isFailing: false, stop: "no", canRestart: false },
  /** Its retries are used up. */
  Failed: { run: "none", ...unwell },
  /** Its handler returned. */
  Completed: { run: "none", ...well },
} as const satisfies Record<string, StatusTraits>;

type ObserverStatus = keyof typeof STATUS_TRAITS;

/** In the order of the table. */
export const OBSERVER_STATUSES = Object.keys(STATUS_TRAITS) as [ObserverStatus, ...ObserverStatus[]];

export const traitsOf = (status: ObserverStatus): StatusTraits => STATUS_TRAITS[status];

/** The statuses whose traits are so. */
export const statusesThat = (are: (traits: StatusTraits) => boolean): readonly ObserverStatus[] =>
  OBSERVER_STATUSES.filter((status) => are(traitsOf(status)));

/** It takes a worker, or is about to. */
export const OCCUPYING_STATUSES = statusesThat(({ run }) => run !== "none");

/** A run of it is awaited: nobody has it yet, or any more. */
export const AWAITING_STATUSES = statusesThat(({ run }) => run === "awaited");

/** It may have no run although it should have one: what nobody says of it has to be found out. */
export const DOUBTFUL_STATUSES = statusesThat(({ run }) => run === "awaited" || run === "ending");

/** Nothing leads on from it by itself. */
export const OVER_STATUSES = statusesThat(({ run }) => run === "none");

/** Its name is taken: all but those that are Deleted. What "all observers" means where nobody names a status. */
export const LIVING_STATUSES = statusesThat(({ stop }) => stop !== "no");

export const FAILING_STATUSES = statusesThat(({ isFailing }) => isFailing);

/** Whether it has, or may have, a current run. */
export const mayHaveRun = (status: ObserverStatus): boolean => ["current", "ending"].includes(traitsOf(status).run);

export const isOver = (status: ObserverStatus): boolean => traitsOf(status).run === "none";
