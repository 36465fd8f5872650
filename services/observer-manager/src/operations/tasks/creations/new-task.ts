import type { CreateTask, TaskId } from "@unacked/contracts";
import type { Action } from "../../access/audit.ts";

/** A task about to be: already valid. */
export interface NewTask extends Omit<CreateTask, "id"> {
  id: TaskId;
  /** The id was made for it just now: no task that is over can have had it. */
  hasNewId?: true;
  /** The handler of this task created it. */
  parentId?: TaskId;
  /** By its key or its id it may meet a task of these pools alone. Undefined: of any. */
  within?: readonly string[] | undefined;
}

/** A task that somebody asks for. */
export interface Creation {
  task: NewTask;
  /** The audit trail says this of it. */
  action: Action;
  /** False: nobody looks at what it is like now, and it is not found out why it waits. */
  isShown?: boolean;
}
