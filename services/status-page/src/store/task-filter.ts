import type { QueryOf, TaskStatus } from "@unacked/contracts";
import { TASK_SHOWN } from "./task-looks.ts";

/** What the list of tasks is narrowed to; it stands in the page's address. */
export interface TaskFilter {
  status: TaskStatus | "";
  type: string;
  pool: string;
  /** Name or id of the service that it runs on. */
  service: string;
  id: string;
}

export function taskFilterOf(search: string): TaskFilter {
  const given = new URLSearchParams(search);
  const word = (name: string): string => given.get(name)?.trim() ?? "";
  const status = TASK_SHOWN.find((one) => one === word("status")) ?? "";
  return { status, type: word("type"), pool: word("pool"), service: word("service"), id: word("id") };
}

export function addressOfTasks(filter: Partial<TaskFilter>): string {
  const given = Object.entries(filter).filter(([, value]) => value !== "");
  return given.length === 0 ? "/tasks" : `/tasks?${new URLSearchParams(given)}`;
}

export const isNarrowed = (filter: TaskFilter): boolean => Object.values(filter).some((value) => value !== "");

/** As the manager is asked. An id of less than four characters narrows nothing yet. */
export function queryOf({ status, type, pool, service, id }: TaskFilter): QueryOf<"listTasks"> {
  return {
    ...(status !== "" && { status: [status] }),
    ...(type !== "" && { type }),
    ...(pool !== "" && { pool }),
    ...(service !== "" && { service }),
    ...(id.length >= 4 && { q: id }),
  };
}
