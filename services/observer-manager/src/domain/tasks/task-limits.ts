import type { ChangeTaskType, TaskStatus, TaskTypeView, TaskWait } from "@unacked/contracts";

/** What may be started of a task type. */
export type TaskLimits = Pick<TaskTypeView, "paused" | "maxRunning" | "minRunning" | "ratePerSecond" | "outside">;

export const NO_LIMITS: TaskLimits = {
  paused: false,
  maxRunning: null,
  minRunning: 0,
  ratePerSecond: null,
  outside: false,
};

/** What is left out of the change stays. */
export function changedLimits(before: TaskLimits, change: ChangeTaskType): TaskLimits {
  const given = Object.entries(change).filter(([, value]) => value !== undefined);
  return { ...before, ...(Object.fromEntries(given) as Partial<TaskLimits>) };
}

/** Why these cannot be kept; undefined where they can. */
export function limitsFlaw({ maxRunning, minRunning }: TaskLimits): { pointer: string; message: string } | undefined {
  if (maxRunning === null || minRunning <= maxRunning) return undefined;
  return { pointer: "/minRunning", message: `${minRunning} is more than maxRunning (${maxRunning})` };
}

export const isUnlimited = (limits: TaskLimits): boolean =>
  !limits.paused &&
  limits.maxRunning === null &&
  limits.minRunning === 0 &&
  limits.ratePerSecond === null &&
  !limits.outside;

/** How it stands with a type in a pool just now. */
export interface TypeStanding {
  paused: boolean;
  /** A living service of the pool has the type. While nobody can be heard, one that may live counts, too. */
  isServed: boolean;
  /** It is worked outside: who has no service may take it. */
  isOutside: boolean;
  /** As many are Sent or Running as may. */
  isFull: boolean;
  /** As many were started in the last second as may. */
  isFast: boolean;
}

/** Gives the one of several reasons that lasts longest. @param isBehindAnother in a lane, for the limit of its type */
export function waitOf(status: TaskStatus, standing?: TypeStanding, isBehindAnother = false): TaskWait | null {
  if (status === "Blocked") return "flow";
  if (status === "Scheduled") return "due-time";
  if (status === "Sent") return isBehindAnother ? "max-running" : "worker";
  if (status !== "Ready") return null;
  if (standing?.paused) return "paused";
  if (standing?.isServed === false && !standing.isOutside) return "service";
  if (standing?.isFull) return "max-running";
  if (standing?.isFast) return "rate";
  return standing?.isServed === false ? "taker" : "turn";
}
