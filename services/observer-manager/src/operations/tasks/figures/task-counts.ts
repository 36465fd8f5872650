import type { TaskStatus } from "@unacked/contracts";

/** Tasks that are not over, and the task workers that there are: the most frequent first. */
export interface TaskCounts {
  byType: { type: string; status: TaskStatus; count: number }[];
  pools: {
    pool: string;
    workers: number;
    wanted: number;
    /** For how long it has been due, in seconds. */
    oldestReadyS: number;
    /** Of what no service of the pool has, and is worked outside. */
    oldestUntakenS: number;
  }[];
}
