import { TASK_STATUSES, type TaskStatus } from "@unacked/contracts";
import { usageFailure } from "../failure.ts";
import { parseRerunFilters, parseTaskChangeFilters } from "../input/filters.ts";

export interface TaskTargetOptions {
  filter?: string[];
  all?: boolean;
}

/** Which tasks are meant. The manager decides in which statuses they may be changed. */
export type TaskTarget =
  | { ids: string[] }
  | { filter: { status?: TaskStatus[]; type?: string; pool?: string } }
  | { all: true };

/** Those of a type that are Failed with errors of one group. */
export interface AlikeTasks {
  alike: { type: string; group: string };
}

export function toTaskTarget(ids: string[], { filter, all }: TaskTargetOptions): TaskTarget {
  const ways = [ids.length > 0, filter !== undefined, all === true].filter(Boolean).length;
  if (ways !== 1) throw usageFailure("Which tasks?", "Give ids, --filter or --all: exactly one of them.");
  if (ids.length > 0) return { ids };
  if (filter === undefined) return { all: true };
  const { status, ...rest } = parseTaskChangeFilters(filter);
  return { filter: { ...rest, ...(status !== undefined && { status: status.split(",").map(toTaskStatus) }) } };
}

/** @returns undefined if no error is named: then it is meant in another way */
export function toAlikeTasks(ids: string[], { filter, all }: TaskTargetOptions): AlikeTasks | undefined {
  if (filter?.some((text) => text.startsWith("errorGroup=")) !== true || ids.length > 0 || all === true) return undefined;
  const { errorGroup: group = "", type, ...rest } = parseRerunFilters(filter);
  const beside = Object.keys(rest);
  if (type === undefined || beside.length > 0)
    throw usageFailure(
      `--filter errorGroup ${type === undefined ? "needs a type" : `and ${beside.join(", ")} do not go together`}`,
      "It means those that are Failed: --filter type=TYPE --filter errorGroup=GROUP, as unacked get task-failures has them.",
    );
  return { alike: { type, group } };
}

function toTaskStatus(text: string): TaskStatus {
  const status = TASK_STATUSES.find((each) => each.toLowerCase() === text.toLowerCase());
  if (status === undefined) throw usageFailure(`"${text}" is not a status`, `They are ${TASK_STATUSES.join(", ")}.`);
  return status;
}
