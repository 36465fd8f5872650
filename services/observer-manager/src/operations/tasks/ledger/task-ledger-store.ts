import type { SendId, ServiceId, TASK_OVER_STATUSES, TaskId, TaskView } from "@unacked/contracts";
import type { TaskNews } from "../../../domain/tasks/task-words.ts";
import type { NewTask } from "../creations/new-task.ts";
import type { UnwantedSend } from "../unwanted-send.ts";

/** A task that is over now. */
export interface OverTask {
  id: TaskId;
  status: (typeof TASK_OVER_STATUSES)[number];
}

/** What the handler of a send wants to be created if it has completed its task. */
export interface SendCreations {
  wanted: NewTask[];
  /** They were refused before they were tried. */
  refused: RefusedCreation[];
}

/** A refusal as it is shown with its creator. */
export type RefusedCreation = NonNullable<TaskView["refused"]>[number];

/** Some of what was to be written has been: nothing of it was written now. */
export class AppliedBefore extends Error {
  readonly code = "applied-before";
}

/** What is told of tasks, in the database. No call leaves a transaction open; all reject while it is away. */
export interface TaskLedgerStore {
  /** The number of the last batch of each service that was applied. */
  lastSeqs(services: ServiceId[]): Promise<Map<ServiceId, number>>;
  /**
   * Writes all of it in one transaction, and nothing twice; with it what ended sends want to be created, each for itself: where one is
   * refused, its creator says so. Rejects with AppliedBefore where somebody has applied a batch of these numbers. @returns what is over
   * now, what is to be stopped, whether something that is over may be of a flow, and `behind`: pools in which something that was told before is not in the
   * books
   */
  apply(
    news: TaskNews,
    creations?: ReadonlyMap<SendId, SendCreations>,
  ): Promise<{ over: OverTask[]; unwanted: UnwantedSend[]; hasFlowEnds: boolean; behind: string[] }>;
  /** Forgets services that are gone for so long that nothing of them can come any more, and with them the types that they had. @returns how many */
  forgetGone(limit: number): Promise<number>;
}
