import type { TaskId } from "@unacked/contracts";
import type { EntityManager } from "typeorm";
import type { TaskWord } from "../../../../domain/tasks/task-words.ts";
import type { OverTask } from "../../../../operations/tasks/ledger/task-ledger-store.ts";
import type { UnwantedSend } from "../../../../operations/tasks/unwanted-send.ts";
import { prepared } from "../../statements/prepared.ts";
import { failByCrashes, MAX_CRASHES } from "../ended-task-rows.ts";
import { CUT_COUNT, LOST_COUNT, storyWithCut } from "./cut-runs.ts";
import { CRASHED, CURRENT, FOLLOWED, parametersOfStarted, RUN_BEFORE, STARTED, STARTED_ARRAYS } from "./told-words.ts";

export const STARTS = prepared(`
  WITH started AS (
    UPDATE tasks t SET status = 'Running', run_id = e.run_id, service_id = e.service_id,
      service_generation = e.service_generation, service_name = e.service_name, started_at = now(),
      interruptions = t.interruptions + ${CUT_COUNT} + ${FOLLOWED}::int,
      crashes = t.crashes + ${LOST_COUNT} + ${CRASHED}::int,
      story = ${storyWithCut(RUN_BEFORE)}
    FROM unnest(${STARTED_ARRAYS}) AS e (${STARTED})
    WHERE ${CURRENT}
    RETURNING t.id, t.crashes, t.cancel_requested_at IS NOT NULL AS cancelling)
  SELECT * FROM started`);

export interface StartedRow {
  id: TaskId;
  crashes: number;
  cancelling: boolean;
}

export async function noteStarts(tx: EntityManager, starts: TaskWord[]): Promise<StartedRow[]> {
  return starts.length === 0 ? [] : await tx.query(STARTS, parametersOfStarted(starts));
}

/** What is not the current send is unwanted; so is what somebody has cancelled, and what has ended too many services. */
export async function failStarted(
  tx: EntityManager,
  starts: TaskWord[],
  rows: StartedRow[],
): Promise<{ over: OverTask[]; unwanted: UnwantedSend[] }> {
  const current = new Map(rows.map((row) => [row.id, row]));
  const failed = rows.filter(({ crashes }) => crashes >= MAX_CRASHES).map(({ id }) => id);
  if (failed.length > 0) await failByCrashes(tx, failed);
  const unwanted = starts.filter(({ taskId }) => {
    const row = current.get(taskId);
    return row === undefined || row.cancelling || row.crashes >= MAX_CRASHES;
  });
  return {
    over: failed.map((id) => ({ id, status: "Failed" })),
    unwanted: unwanted.map(({ taskId, sendId, by: { serviceId, generation } }) => ({
      taskId,
      sendId,
      serviceId,
      generation,
    })),
  };
}
