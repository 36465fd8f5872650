import type { TaskId } from "@unacked/contracts";

/** What a creation is held against, in the database. No call leaves a transaction open; all reject while it is away. */
export interface TaskTypeStore {
  /**
   * What living services of a pool announced, each version of a type once; `services` is how many of them live. `outside`: types that
   * are created all the same; left out without a service.
   */
  liveTypes(pool: string): Promise<{
    services: number;
    types: { type: string; paramsSchema: Record<string, unknown> }[];
    outside: string[];
  }>;
  /** Those of these ids that there are, over or not. */
  thereAmong(ids: TaskId[]): Promise<TaskId[]>;
}
