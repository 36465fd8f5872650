import type { DataSource } from "typeorm";
import { UNKNOWN_TYPE_PAUSE_MS } from "../../../domain/observers/observer-input.ts";
import type { CommandCount } from "../../../operations/commands/command-store.ts";

/** Whether a run is told later, because its observer is being stopped: see command-contents.ts. Index: observers_pkey. */
const IS_TOLD_LATER = `c.kind IN ('admit', 'update-run') AND EXISTS (
  SELECT FROM observers o WHERE o.id = c.observer_id AND (o.pending IS NOT NULL OR o.status = 'OnDeleting'))`;

/**
 * This is one pass: the table holds what is not sent or not answered yet. What is being sent is overdue until it has been sent. What was
 * never sent counts as due since it first was, however often it was put off: at once, or, for a start that was sent back, after its pause.
 */
const PAUSE = `CASE WHEN kind = 'start' AND reason = 'unknown-type' THEN ${UNKNOWN_TYPE_PAUSE_MS} ELSE 0 END * interval '1 millisecond'`;
const COUNTS = `
  SELECT kind, count(*)::int AS count,
         greatest(0, extract(epoch FROM now() - min(
           CASE WHEN sent_count > 0 OR ${IS_TOLD_LATER} THEN coalesce(claimed_at, due_at)
                ELSE least(claimed_at, due_at, created_at + ${PAUSE}) END)))::float8 AS "overdueS",
         greatest(0, extract(epoch FROM now() - min(created_at)))::float8 AS "oldestS"
  FROM commands c GROUP BY kind`;

export const countCommands = (dataSource: DataSource): Promise<CommandCount[]> => dataSource.query<CommandCount[]>(COUNTS);
