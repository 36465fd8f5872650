import type { SendId } from "@unacked/contracts";
import type { EntityManager } from "typeorm";
import type { TaskWord } from "../../../../domain/tasks/task-words.ts";
import type { OverTask } from "../../../../operations/tasks/ledger/task-ledger-store.ts";
import { mostlyNull } from "../../statements/mostly-null.ts";
import { CANCELLED, failByCrashes, MAX_CRASHES, NEXT_IF_CANCELLED } from "../ended-task-rows.ts";
import { CUT_COUNT, cutIn, IS_TOLD, LOST_COUNT, storyWithCut, toldIn } from "./cut-runs.ts";
import type { StartedRow } from "./task-starts.ts";
import { CURRENT, identityOf } from "./told-words.ts";

/**
 * A released task goes back to the queue, as it was Sent: nobody has it. If it was cancelled, it is over then, as a Sent one is with its
 * cancel: nobody may ever come to take its message and hear of that. @returns what was cancelled, with the send that is no more; without
 * `cancelling` it runs with newer params
 */
export const RELEASES = `
  WITH released AS (
    UPDATE tasks t SET status = CASE WHEN t.cancel_requested_at IS NULL THEN 'Sent' ELSE 'Ready' END, sent_at = now(), run_id = NULL,
      send_id = CASE WHEN t.cancel_requested_at IS NULL THEN t.send_id END, ${NEXT_IF_CANCELLED}
    FROM unnest($1::uuid[], $2::uuid[], $3::jsonb[]) AS e (id, send_id, told)
    WHERE ${CURRENT} AND t.status = 'Running' AND ${IS_TOLD}
    RETURNING t.id, t.pool, t.crashes, t.status, e.send_id, t.cancel_requested_at IS NOT NULL AS cancelling)
  SELECT id, pool, crashes, send_id AS "sendId", cancelling FROM released WHERE status = 'Ready'`;

export type ReleasedRow = StartedRow & { pool: string; sendId: SendId };

export async function noteReleases(tx: EntityManager, words: TaskWord[]): Promise<ReleasedRow[]> {
  if (words.length === 0) return [];
  return await tx.query(RELEASES, [...identityOf(words), toldIn(words)]);
}

/** It had begun, and nobody says that it was released: an interruption; if that was on another service, a crash. */
const IS_LOST = `(e.redelivered AND t.status = 'Running' AND NOT ${IS_TOLD})`;
const WENT = `(${IS_LOST} AND coalesce(t.service_id <> e.service_id, false))`;

/**
 * Nobody has its message: the books send it again. If it had begun on a service that has gone, it was interrupted; if not, as far as was
 * told, `handedOn` counts it. What found no slot of its own is due from now on: as old as it was it would keep a worker from others again
 * and again.
 */
export const RETURNS = `
  WITH back AS (
    UPDATE tasks t SET status = 'Ready', send_id = NULL, run_id = NULL, ${NEXT_IF_CANCELLED},
      due_at = CASE WHEN e.no_slot THEN unacked_now() ELSE t.due_at END,
      story = CASE WHEN e.redelivered AND NOT ${IS_LOST} AND e.cut IS NULL
        THEN coalesce(t.story, '{}') || jsonb_build_object('handedOn', coalesce((t.story->>'handedOn')::int, 0) + 1)
        ELSE ${storyWithCut({ isCut: IS_LOST, isLost: WENT })} END,
      interruptions = t.interruptions + ${CUT_COUNT} + ${IS_LOST}::int,
      crashes = t.crashes + ${LOST_COUNT} + ${WENT}::int
    FROM unnest($1::uuid[], $2::uuid[], $3::boolean[], $4::uuid[], $5::text[], $6::jsonb[], $7::boolean[], $8::jsonb[])
      AS e (id, send_id, redelivered, service_id, interruption, cut, no_slot, told)
    WHERE ${CURRENT}
    RETURNING t.id, t.crashes, t.cancel_requested_at IS NOT NULL AS cancelling)
  SELECT * FROM back`;

export async function noteReturns(tx: EntityManager, words: TaskWord[]): Promise<StartedRow[]> {
  if (words.length === 0) return [];
  return await tx.query(RETURNS, [
    ...identityOf(words),
    words.map((w) => w.returned?.isRedelivered === true),
    words.map((w) => w.by.serviceId),
    mostlyNull(words.map((w) => w.interruption ?? null)),
    cutIn(words),
    words.map((w) => w.returned?.noSlot === true),
    toldIn(words),
  ]);
}

/** What was to be cancelled is not sent again. @returns what is over */
export async function endReturned(tx: EntityManager, rows: StartedRow[]): Promise<OverTask[]> {
  const cancelled = rows.filter(({ cancelling }) => cancelling).map(({ id }) => id);
  const failed = rows.filter(({ cancelling, crashes }) => !cancelling && crashes >= MAX_CRASHES).map(({ id }) => id);
  if (cancelled.length > 0) await tx.query(CANCELLED, [cancelled]);
  if (failed.length > 0) await failByCrashes(tx, failed);
  return [
    ...cancelled.map((id) => ({ id, status: "Cancelled" as const })),
    ...failed.map((id) => ({ id, status: "Failed" as const })),
  ];
}
