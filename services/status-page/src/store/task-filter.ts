import type { QueryOf, TaskStatus } from "@unacked/contracts";
import { TASK_SHOWN } from "./task-looks.ts";

/** What the list of tasks is narrowed to; it stands in the page's address. */
export interface TaskFilter {
  status: TaskStatus | "";
  type: string;
  pool: string;
  id: string;
}

export function taskFilterOf(search: string): TaskFilter {
  const given = new URLSearchParams(search);
  const word = (name: string): string => given.get(name)?.trim() ?? "";
  const status = TASK_SHOWN.find((one) => one === word("status")) ?? "";
  return { status, type: word("type"), pool: word("pool"), id: word("id") };
}

export function addressOfTasks(filter: TaskFilter): string {
  const given = Object.entries(filter).filter(([, value]) => value !== "");
  return given.length === 0 ? "/tasks" : `/tasks?${new URLSearchParams(given)}`;
}

export const isNarrowed = (filter: TaskFilter): boolean => Object.values(filter).some((value) => value !== "");

/** As the manager is asked. An id of less than four characters narrows nothing yet. */
export function queryOf({ status, type, pool, id }: TaskFilter): QueryOf<"listTasks"> {
  return {
    ...(status !== "" && { status: [status] }),
    ...(type !== "" && { type }),
    ...(pool !== "" && { pool }),
    ...(id.length >= 4 && { q: id }),
  };
}
