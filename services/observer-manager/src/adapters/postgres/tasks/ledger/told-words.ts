import type { TaskWord } from "../../../../domain/tasks/task-words.ts";
import { mostlyNull } from "../../statements/mostly-null.ts";
import { cutIn, IS_TOLD, type RunOfRow, toldIn } from "./cut-runs.ts";

/**
 * What the ledger's statements have in common (task-starts.ts, task-returns.ts, task-completions.ts, task-ends.ts): one for all words of a kind
 * of a batch. Each has the send id in its join, so that what is told of an older send, or of a task that is over, changes nothing. Index: tasks_pkey.
 *
 * Rows of `tasks` are named by an array first, and never by a join alone. A vacuum that finds the table empty lets PostgreSQL plan for one row,
 * however many come after it until the next: of 500 ends, each was compared with every task that waited. Ends, of which there are thousands, are joined by
 * a full join, which is never made by a loop through both: the array alone leaves a loop through all that are told, which PostgreSQL takes for short.
 */

/** Whether something is told of the current send of a row `t` of tasks. */
export const CURRENT = "t.id = e.id AND t.send_id = e.send_id AND t.id = ANY($1)";

/** The run before has not ended, and another one has its message now: an interruption; if that is on another service, a crash. */
export const FOLLOWED = `(t.status = 'Running' AND t.run_id <> e.run_id AND NOT ${IS_TOLD})`;
export const CRASHED = `(${FOLLOWED} AND t.service_id IS DISTINCT FROM e.service_id)`;
export const RUN_BEFORE: RunOfRow = { isCut: FOLLOWED, isLost: CRASHED };

export const STARTED = "id, send_id, run_id, service_id, service_generation, service_name, told, interruption, cut";
export const STARTED_ARRAYS =
  "$1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::int[], $6::text[], $7::jsonb[], $8::text[], $9::jsonb[]";

/** What is told of a run. Of a taking it is only which: nobody outside is a service, and no other run follows it without its lease. */
export type ToldRun = Pick<TaskWord, "taskId" | "sendId" | "runId"> &
  Partial<Pick<TaskWord, "by" | "told" | "interruption" | "cut">>;

/** The parameters of STARTED_ARRAYS. */
export const parametersOfStarted = (runs: readonly ToldRun[]): unknown[] => [
  ...identityOf(runs),
  runs.map(({ runId }) => runId),
  runs.map(({ by }) => by?.serviceId ?? null),
  runs.map(({ by }) => by?.generation ?? null),
  runs.map(({ by }) => by?.serviceName ?? null),
  toldIn(runs),
  mostlyNull(runs.map(({ interruption }) => interruption ?? null)),
  cutIn(runs),
];

export const identityOf = (runs: readonly ToldRun[]): unknown[] => [
  runs.map(({ taskId }) => taskId),
  runs.map(({ sendId }) => sendId),
];
