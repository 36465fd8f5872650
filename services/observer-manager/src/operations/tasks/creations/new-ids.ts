import { type CreateTask, newTaskId } from "@unacked/contracts";
import type { NewTask } from "./new-task.ts";

/**
 * The task under the id that was chosen, or a new one. What is added stands before what is spread: docs/performance-budget.md, hidden
 * classes.
 */
export const withId = (task: CreateTask): NewTask =>
  task.id === undefined ? { hasNewId: true, ...task, id: newTaskId() } : { ...task, id: task.id };

/** Nothing that is there, or in somebody's open transaction, can have its id or key. */
export const isNew = ({ hasNewId, key }: NewTask): boolean => hasNewId === true && key === undefined;
