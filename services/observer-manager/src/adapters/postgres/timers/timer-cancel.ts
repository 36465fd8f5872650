import type { EntityManager } from "typeorm";
import { doneToTimers } from "../../../operations/access/audit.ts";
import type { CancelOutcome, TimerCancel } from "../../../operations/timers/timer-store.ts";
import { recordActions } from "../access/audit-rows.ts";
import { isWithin, keepEnded, timersOf, withinOf } from "./timer-view.ts";

/** Index: timers_pkey. A claim that comes first is waited for, and then it is Firing. In one order, so that no two wait for each other. */
const CANCEL = `
  WITH waiting AS MATERIALIZED (
    SELECT t.id FROM timers t JOIN unnest($1::uuid[], $2::text[]) AS u (id, within) USING (id)
    WHERE t.id = ANY($1) AND t.status = 'Waiting' AND ${isWithin("t.name", "u.within::jsonb")}
    ORDER BY t.id FOR UPDATE OF t),
  gone AS (DELETE FROM timers WHERE id = ANY(ARRAY(SELECT id FROM waiting)) RETURNING *),
  kept AS (${keepEnded("gone", "Cancelled")} RETURNING id)
  SELECT id FROM kept`;

/** Each for itself, each id once, in the order given; with their entries of the audit trail. @param shown how they are read to be shown */
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
