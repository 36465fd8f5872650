// Without zod: the status page is made of this too, and is not to carry it.

export interface StatusTraits {
  /**
   * What there is of a run. `awaited`: none, and one is to come · `current`: one · `ending`: one that is told to stop, or one
   * that was lost before it could be · `on-hold`: none, and none is to come until somebody asks · `later`: none, and one is to come at its
   * time · `none`: the observer is over.
   */
  run: "awaited" | "current" | "ending" | "on-hold" | "later" | "none";
  /** Its handler threw last, and somebody may want to look. */
  isFailing: boolean;
  /** What ends it for good: `gently` a stop, `by-force` only one with force, `no`: nothing more. */
  stop: "gently" | "by-force" | "no";
  /** Whether it can be run again from the beginning. */
  canRestart: boolean;
  /** Whether its run, or its wait for one, can be ended without ending the observer. */
  canPause: boolean;
}

const well = { isFailing: false, stop: "gently", canRestart: true, canPause: true } as const;
const unwell = { ...well, isFailing: true } as const;

/**
 * Where an observer stands in the books, and all that lists of statuses are made of. One more is a line here, and what the
 * compiler names then: its row of the machine, its looks, its colour. The books' CHECK takes a migration.
 */
export const STATUS_TRAITS = {
  /** Its time (`startAt`) has not come, or no worker was free then: there is no message of it yet. */
  Scheduled: { run: "later", ...well, canRestart: false },
  /** Sent, nobody has it yet. */
  Created: { run: "awaited", ...well, stop: "by-force", canRestart: false },
  /** A run is current. */
  Processing: { run: "current", ...well },
  /** Its handler threw and waits, still unacked. */
  Retrying: { run: "current", ...unwell },
  /** Its service died or let go, the broker is giving it to another. */
  Redistributing: { run: "awaited", ...well, canRestart: false },
  /** A stop was broadcast and is not yet answered. */
  OnDeleting: { run: "ending", ...well, stop: "by-force", canRestart: false, canPause: false },
  /** There is no message of it, until it is resumed. */
  Paused: { run: "on-hold", ...well, canRestart: false, canPause: false },
  Deleted: { run: "none", ...well, stop: "no", canRestart: false, canPause: false },
  /** Its retries are used up. */
  Failed: { run: "none", ...unwell, canPause: false },
  /** Its handler returned. */
  Completed: { run: "none", ...well, canPause: false },
} as const satisfies Record<string, StatusTraits>;

type ObserverStatus = keyof typeof STATUS_TRAITS;

/** In the order of the table. */
export const OBSERVER_STATUSES = Object.keys(STATUS_TRAITS) as [ObserverStatus, ...ObserverStatus[]];

export const traitsOf = (status: ObserverStatus): StatusTraits => STATUS_TRAITS[status];

/** The statuses whose traits are so. */
export const statusesThat = (are: (traits: StatusTraits) => boolean): readonly ObserverStatus[] =>
  OBSERVER_STATUSES.filter((status) => are(traitsOf(status)));

/** It takes a worker, or is about to. */
export const OCCUPYING_STATUSES = statusesThat(({ run }) => !["none", "on-hold", "later"].includes(run));

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

/** What is under way beside a status; the status stays until it has come to its end. */
export const PENDING = ["pause", "update"] as const;
export type Pending = (typeof PENDING)[number];

type Standing = { status: ObserverStatus; pending: Pending | null };

/** Whether a pause of it would change anything. */
export const canPause = ({ status, pending }: Standing): boolean => pending !== "pause" && traitsOf(status).canPause;

/** Whether it is on hold, or about to be. */
export const canResume = ({ status, pending }: Standing): boolean =>
  pending === "pause" || traitsOf(status).run === "on-hold";

export const isOver = (status: ObserverStatus): boolean => traitsOf(status).run === "none";
