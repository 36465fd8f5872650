// No zod here: the status page is built from this, too, and must not load it.

export interface StatusTraits {
  /**
   * What there is of a run. `awaited`: none, and one is to come · `current`: one · `ending`: one that is told to stop, or one
   * that was lost before it could be · `on-hold`: none, and none is to come until somebody asks · `later`: none, and one is to come at its
   * time · `none`: the observer is over.
   */
  run: "awaited" | "current" | "ending" | "on-hold" | "later" | "none";
  /** Its handler threw last, so somebody may want to look. */
  isFailing: boolean;
  /** What ends it for good. `gently`: a stop · `by-force`: only a forced stop · `no`: it is over already. */
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
  /** Its time (`startAt`) has not come, or no worker was free then, so there is no message for it yet. */
  Scheduled: { run: "later", ...well, canRestart: false },
  /** It was sent, but nobody has it yet. */
  Created: { run: "awaited", ...well, stop: "by-force", canRestart: false },
  /** A run is current. */
  Processing: { run: "current", ...well },
  /** Its handler threw, and the run waits, its message still unacked. */
  Retrying: { run: "current", ...unwell },
  /** Its service died or let go, and the broker is giving it to another. */
  Redistributing: { run: "awaited", ...well, canRestart: false },
  /** A stop was broadcast and is not answered yet. */
  OnDeleting: { run: "ending", ...well, stop: "by-force", canRestart: false, canPause: false },
  /** There is no message for it until it is resumed. */
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

/** The statuses whose traits match. */
export const statusesThat = (are: (traits: StatusTraits) => boolean): readonly ObserverStatus[] =>
  OBSERVER_STATUSES.filter((status) => are(traitsOf(status)));

/** Statuses in which it takes a worker, or is about to. */
export const OCCUPYING_STATUSES = statusesThat(({ run }) => !["none", "on-hold", "later"].includes(run));

/** Statuses in which a run is awaited: nobody has it yet, or any more. */
export const AWAITING_STATUSES = statusesThat(({ run }) => run === "awaited");

/** Statuses in which it may have no run although it should: if nobody reports it, this has to be found out. */
export const DOUBTFUL_STATUSES = statusesThat(({ run }) => run === "awaited" || run === "ending");

/** Statuses that nothing leads on from by itself. */
export const OVER_STATUSES = statusesThat(({ run }) => run === "none");

/** Statuses in which its name is taken: all but Deleted. They are meant by "all observers" if nobody names a status. */
export const LIVING_STATUSES = statusesThat(({ stop }) => stop !== "no");

export const FAILING_STATUSES = statusesThat(({ isFailing }) => isFailing);

/** Whether it has, or may have, a current run. */
export const mayHaveRun = (status: ObserverStatus): boolean => ["current", "ending"].includes(traitsOf(status).run);

/** A change under way beside the status, which stays until the change is done. */
export const PENDING = ["pause", "update"] as const;
export type Pending = (typeof PENDING)[number];

type Standing = { status: ObserverStatus; pending: Pending | null };

/** Whether a pause would change anything. */
export const canPause = ({ status, pending }: Standing): boolean => pending !== "pause" && traitsOf(status).canPause;

/** Whether it is on hold, or about to be. */
export const canResume = ({ status, pending }: Standing): boolean =>
  pending === "pause" || traitsOf(status).run === "on-hold";

export const isOver = (status: ObserverStatus): boolean => traitsOf(status).run === "none";
