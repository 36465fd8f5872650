import type { DataSource } from "typeorm";
import type { UnwantedSend } from "../../../../operations/tasks/unwanted-send.ts";
import { IN_THE_FUTURE } from "../../statements/time-ago.ts";

/** Index: tasks_cancelling. */
const TO_CANCEL = `
  FROM tasks WHERE cancel_requested_at IS NOT NULL AND status = 'Running' AND lease_until IS NULL
    AND (cancel_ordered_at IS NULL OR cancel_ordered_at < now() - interval '5 seconds' OR cancel_ordered_at ${IN_THE_FUTURE})
  ORDER BY cancel_ordered_at NULLS FIRST`;
export const IS_CANCEL_DUE = `SELECT EXISTS (SELECT ${TO_CANCEL} LIMIT 1)`;
const CANCELS_DUE = `
  WITH due AS (
    UPDATE tasks SET cancel_ordered_at = now() WHERE id = ANY(ARRAY(
      SELECT id ${TO_CANCEL} LIMIT $1 FOR UPDATE SKIP LOCKED))
    RETURNING id, send_id, service_id, service_generation)
  SELECT id AS "taskId", send_id AS "sendId", service_id AS "serviceId", service_generation AS generation FROM due`;

/** Takes tasks that were cancelled as they ran, and whose service has not been told for some seconds. */
export const takeCancelsDue = (dataSource: DataSource, limit: number): Promise<UnwantedSend[]> =>
  dataSource.query(CANCELS_DUE, [limit]);
