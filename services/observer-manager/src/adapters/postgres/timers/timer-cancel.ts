import type { EntityManager } from "typeorm";
import { doneToTimers } from "../../../operations/access/audit.ts";
import type { CancelOutcome, TimerCancel } from "../../../operations/timers/timer-store.ts";
import { recordActions } from "../access/audit-rows.ts";
import { isWithin, keepEnded, timersOf, withinOf } from "./timer-view.ts";

/**
 * Index: timers_pkey. If a claim comes first, it is waited for, and the timer is Firing. Rows are locked in one order, so that no two wait
 * for each other.
 */
const CANCEL = `
  WITH waiting AS MATERIALIZED (
    SELECT t.id FROM timers t JOIN unnest($1::uuid[], $2::text[]) AS u (id, within) USING (id)
    WHERE t.id = ANY($1) AND t.status = 'Waiting' AND ${isWithin("t.name", "u.within::jsonb")}
    ORDER BY t.id FOR UPDATE OF t),
  gone AS (DELETE FROM timers WHERE id = ANY(ARRAY(SELECT id FROM waiting)) RETURNING *),
  kept AS (${keepEnded("gone", "Cancelled")} RETURNING id)
  SELECT id FROM kept`;

/**
 * Cancels each by itself, with entries in the audit trail. No id comes twice; outcomes are in the order given. @param shown how they are
 * read to be shown
 */
export async function cancelTimers(
  tx: EntityManager,
  cancels: readonly TimerCancel[],
  shown = timersOf,
): Promise<CancelOutcome[]> {
  const ids = cancels.map(({ id }) => id);
  const gone = await tx.query<{ id: string }[]>(CANCEL, [ids, cancels.map(withinOf)]);
  const isGone = new Set(gone.map(({ id }) => id));
  const timers = await shown(tx, ids);
  const outcomes = cancels.map(({ id, within }): CancelOutcome => {
    const timer = timers.get(id);
    if (timer === undefined || !(within?.some((prefix) => timer.name.startsWith(prefix)) ?? true))
      return { kind: "not-found" };
    return { kind: isGone.has(id) ? "cancelled" : "found", timer };
  });
  const changes = cancels.flatMap(({ action }, i) => {
    const outcome = outcomes[i];
    return outcome?.kind === "cancelled" ? [{ action, timer: outcome.timer }] : [];
  });
  await recordActions(tx, doneToTimers(changes));
  return outcomes;
}
