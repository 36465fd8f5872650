import type { DataSource } from "typeorm";
import type { SignOfLife } from "../../../domain/books/received-message.ts";
import { intakeOf, slotsOf } from "../../../domain/books/service-book.ts";
import { addEmits } from "../observers/run-figures.ts";

/**
 * Writes all that a sign of life changes (domain/books/state-message.ts), if nothing else follows from it: the service is Alive, in
 * this generation, was not told to drain, and the batch is its very next. Index: services_pkey.
 */
const NOTE = `
  WITH before AS (SELECT emits FROM services WHERE id = $1), noted AS (
    UPDATE services SET last_seq = $3, worker_count = $4, running = $5, memory_bytes = $6, event_loop_lag_ms = $7,
                        slots = $8::jsonb, slot_deaths = $9::jsonb, slot_deaths_lately = $10,
                        not_consuming = $11, emits = coalesce($12::jsonb, emits),
                        last_seen_at = now(), changed_xid = pg_current_xact_id()
    WHERE id = $1 AND generation = $2 AND last_seq = $3::bigint - 1 AND state = 'Alive' AND drain = 'none'
    RETURNING id
  ), emitted AS (${addEmits("$12::jsonb")})
  SELECT pg_notify('unacked_changes', '') FROM noted`;

/** This takes one statement. @returns false if more is to be decided: then nothing is written */
export async function noteSignOfLife(dataSource: DataSource, { batch, alive }: SignOfLife): Promise<boolean> {
  const { serviceId, generation, seq } = batch;
  const { workerCount, running, memoryBytes, eventLoopLagMs } = alive;
  const { slots, slotDeaths, slotDeathsLately } = slotsOf(alive);
  const figures = [
    workerCount,
    running,
    Math.round(memoryBytes),
    eventLoopLagMs,
    JSON.stringify(slots),
    JSON.stringify(slotDeaths),
    slotDeathsLately,
    intakeOf(alive).notConsuming,
    alive.emits === undefined ? null : JSON.stringify(alive.emits),
  ];
  return (await dataSource.query<unknown[]>(NOTE, [serviceId, generation, seq, ...figures])).length > 0;
}
