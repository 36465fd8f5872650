import { looksLikeUuid, type ObserverFilter } from "@unacked/contracts";
import { andOnService } from "../services/on-service.ts";
import { escapeLike, SqlConditions } from "../statements/sql-conditions.ts";
import { IS_SILENT } from "./silent-observers.ts";

/** Whether observer_counts has the number; with any other filter it has to be counted when it is asked for. */
export const isCounted = ({ service, labels, q, errorGroup, silent }: ObserverFilter): boolean =>
  service === undefined &&
  Object.keys(labels ?? {}).length === 0 &&
  q === undefined &&
  errorGroup === undefined &&
  silent === undefined;

/** A filter as conditions on `observers o`; empty where it asks for nothing. */
export function conditionsOf(filter: ObserverFilter): SqlConditions {
  const conditions = new SqlConditions();
  const [status, ...others] = [filter.status ?? []].flat();
  // One status is read in the order of observers_by_status; several have to be sorted.
  if (status !== undefined && others.length === 0) conditions.and("o.status = ?", status);
  else if (filter.status !== undefined) conditions.and("o.status = ANY(?)", [filter.status].flat());
  if (filter.type !== undefined) conditions.and("o.type = ?", filter.type);
  if (filter.pool !== undefined) conditions.and("o.pool = ?", filter.pool);
  if (filter.service !== undefined) andOnService(conditions, "o.current_service_id", filter.service);
  for (const [key, value] of Object.entries(filter.labels ?? {})) {
    // Index: observers_by_labels, which has only observers with labels.
    conditions.and("o.labels <> '{}' AND o.labels @> ?::jsonb", JSON.stringify({ [key]: value }));
  }
  if (filter.q !== undefined) {
    const name = `%${escapeLike(filter.q)}%`;
    // No index has parts of names: each row is looked at, be it for an id as well.
    if (looksLikeUuid(filter.q)) conditions.and("(o.name ILIKE ? OR o.id = ?)", name, filter.q);
    else conditions.and("o.name ILIKE ?", name);
  }
  if (filter.errorGroup !== undefined) conditions.and("o.error_group = ?", filter.errorGroup); // observers_by_error_group
  if (filter.silent !== undefined) conditions.and(IS_SILENT);
  return conditions;
}
