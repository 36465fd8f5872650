import { isTaskOver, TASK_STATUSES, type TaskView } from "@unacked/contracts";
import { fromJsonText } from "../../../../domain/json-text.ts";
import { shownTime, shownTimeOrNull } from "../../../../domain/shown-time.ts";
import { type TypeStanding, waitOf } from "../../../../domain/tasks/task-limits.ts";
import { literals } from "../../statements/sql-conditions.ts";
import type { KeptInterruption } from "../task-interruptions.ts";

export interface TaskRow {
  id: string;
  type: string;
  params: unknown;
  pool: string;
  priority: number;
  status: TaskView["status"];
  cancelling: boolean;
  due_at: Date;
  max_attempts: number | null;
  failures: number;
  interruptions: number;
  sends: number;
  service_id: string | null;
  service_name: string | null;
  started_at: Date | null;
  ended_at: Date | null;
  output: string | null;
  last_error: TaskView["lastError"];
  created_at: Date;
  key: string | null;
  story: TaskStory | null;
  parent_id: string | null;
  runs_again: boolean;
  taken_by: string | null;
  lease_until: Date | null;
  lane: string | null;
  flow_id: string | null;
  flow_ref: string | null;
}

/** Only few tasks have one. */
export interface TaskStory {
  postpones?: number;
  /** Why it was put off; empty: for no reason that was given. Gone when it has run again. */
  postponedFor?: string;
  /** The time to which it was put off, as PostgreSQL writes it: while that is its due time, it waits for nothing else. */
  until?: string;
  completedBy?: "emergency";
  created?: TaskView["created"];
  refused?: TaskView["refused"];
  /** How somebody has changed its params. */
  edits?: TaskView["edits"];
  /** Who has cancelled it, or wanted to. */
  cancelled?: NonNullable<TaskView["cancelled"]>;
  /** Why its flow has cancelled it. */
  flowReason?: string;
  interrupted?: KeptInterruption[];
  /** How often its message came back from a service that has gone and had not told that it begins. */
  handedOn?: number;
}

const COMMON = `id, type, params, pool, priority, status, due_at, max_attempts, failures, interruptions, sends, service_id,
  service_name, started_at, created_at, key, taken_by, parent_id, flow_id, flow_ref`;

const STORY = "story - '{created,refused,edits,interrupted}'::text[] AS story";
const LAST_ERROR = "last_error - 'stack' AS last_error";
const SHORT_ERROR = `CASE WHEN last_error IS NOT NULL THEN
  jsonb_build_object('name', last_error->'name', 'message', left(last_error->>'message', 200)) END AS last_error`;

/** Index: tasks_in_flight. */
export const IN_FLIGHT: readonly TaskView["status"][] = ["Sent", "Running"];
/** Statuses of tasks that nobody has: Blocked, Scheduled and Ready, which are in the indexes by age and by type. */
export const WAITING = TASK_STATUSES.filter((status) => !isTaskOver(status) && !IN_FLIGHT.includes(status));

/** Whether there is a task of this type that is not over. Indexes: tasks_of_type, tasks_in_flight. @param type as SQL */
export const isOfType = (type: string): string =>
  [WAITING, IN_FLIGHT]
    .map((statuses) => `EXISTS (SELECT FROM tasks WHERE type = ${type} AND status IN (${literals(statuses)}))`)
    .join(" OR ");

/** Whether anybody has heard of it: a service had it an hour or two ago, somebody has limited it, or a task of it is or was. @param type as SQL */
export const isKnownType = (type: string): string => `
  (EXISTS (SELECT FROM task_services WHERE type_facts @> jsonb_build_array(jsonb_build_object('type', ${type})))
   OR EXISTS (SELECT FROM task_types WHERE type = ${type}) OR ${isOfType(type)} OR EXISTS (SELECT FROM ended_tasks WHERE type = ${type}))`;

/** Columns of `tasks` for lists, where a stack would be too much. */
export const LIVE_COLUMNS = `${COMMON}, cancel_requested_at IS NOT NULL AS cancelling, next_params IS NOT NULL AS runs_again, lease_until, lane, NULL::timestamptz AS ended_at,
  NULL::text AS output, ${LAST_ERROR}, ${STORY}`;
/** The same columns of `ended_tasks`, so that both make one list. */
export const ENDED_COLUMNS = `${COMMON}, false AS cancelling, false AS runs_again, NULL::timestamptz AS lease_until, NULL::uuid AS lane,
  ended_at, output, ${LAST_ERROR}, ${STORY}`;

/** Adds the stack, all that it created, and who has changed it. */
const inFull = (columns: string): string => columns.replace(LAST_ERROR, "last_error").replace(STORY, "story");

/** Indexes: tasks_pkey, ended_tasks_by_id of each day. */
const findAll = (of: (columns: string) => string): string => `
  SELECT ${of(LIVE_COLUMNS)} FROM tasks WHERE id = ANY($1)
  UNION ALL SELECT ${of(ENDED_COLUMNS)} FROM ended_tasks WHERE id = ANY($1)`;
export const FIND = findAll((columns) => columns);
/** Finds them without what may be long. */
export const FIND_SHORT = findAll((columns) =>
  columns
    .replace(" params,", " NULL::jsonb AS params,")
    .replace("ended_at, output,", "ended_at, NULL::text AS output,")
    .replace(LAST_ERROR, SHORT_ERROR),
);
/** Finds them with the stack of the last error, and all that they created. */
export const FIND_ONE = findAll(inFull);

/** Index: ended_tasks_by_id, of each day. */
export const ENDED_AMONG = "SELECT id FROM ended_tasks WHERE id = ANY($1)";

interface Waiting extends Pick<TaskRow, "id" | "status" | "lane" | "due_at"> {
  /** The time in its story to which it was put off; empty: there is none. */
  until: string;
}

/** Why it has not started; null: it runs, or is over. @param standing needed if it is Ready */
export function waitOfRow({ id, status, lane, due_at, until }: Waiting, standing?: TypeStanding): TaskView["waitsFor"] {
  if (status === "Scheduled" && Date.parse(until) === due_at.getTime()) return "postponed";
  return waitOf(status, standing, lane !== null && lane !== id);
}

const interruptionOf = (kept: KeptInterruption): NonNullable<TaskView["interrupted"]>[number] => {
  const { at, reason, service: { id = null, name = null } = {}, takenBy = null, detail = null } = kept;
  return { at, reason, service: id === null ? null : { id, name: name ?? "" }, takenBy, detail };
};

/** @param standing needed if it is Ready */
export function toTaskView(row: TaskRow, standing?: TypeStanding): TaskView {
  const { id, type, params, pool, priority, status, cancelling, failures, interruptions, sends } = row;
  const {
    postpones = 0,
    postponedFor,
    until = "",
    completedBy = "handler",
    created,
    refused,
    edits,
    interrupted,
    cancelled = null,
    flowReason = null,
  } = row.story ?? {};
  const waitsFor = waitOfRow({ id, status, lane: row.lane, due_at: row.due_at, until }, standing);
  const isPostponed = waitsFor === "postponed";
  return {
    id,
    type,
    params,
    pool,
    key: row.key,
    priority,
    status,
    waitsFor,
    cancelling,
    cancelled: cancelling || status === "Cancelled" ? cancelled : null,
    runsAgain: row.runs_again,
    dueAt: shownTime(row.due_at),
    maxAttempts: row.max_attempts,
    failures,
    interruptions,
    sends,
    postpones,
    postponedFor: (isPostponed && postponedFor) || null,
    service: row.service_id === null ? null : { id: row.service_id, name: row.service_name ?? "" },
    taken: row.taken_by === null ? null : { by: row.taken_by, until: shownTimeOrNull(row.lease_until) },
    startedAt: shownTimeOrNull(row.started_at),
    endedAt: shownTimeOrNull(row.ended_at),
    output: row.output === null ? null : fromJsonText(row.output),
    completedBy: status === "Completed" ? completedBy : null,
    lastError: row.last_error,
    flow: row.flow_id === null ? null : { id: row.flow_id, ref: row.flow_ref ?? "", reason: flowReason },
    parentId: row.parent_id,
    ...(created !== undefined && { created }),
    ...(refused !== undefined && { refused }),
    ...(edits !== undefined && { edits }),
    ...(interrupted !== undefined && { interrupted: interrupted.map(interruptionOf) }),
    createdAt: shownTime(row.created_at),
  };
}
