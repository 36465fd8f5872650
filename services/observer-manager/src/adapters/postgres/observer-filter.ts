import type { ObserverFilter } from "../../flows/manager-api.ts";
import { escapeLike, SqlConditions } from "./sql-condition.ts";

/** By what observers are counted all the time; anything else has to be counted when it is asked for. */
export const isCounted = ({ service, labels, nameContains, errorGroup }: ObserverFilter): boolean =>
  service === undefined && (labels ?? []).length === 0 && nameContains === undefined && errorGroup === undefined;

/** A filter as conditions on `observers o`; empty where it asks for nothing. */
export function conditionsOf(filter: ObserverFilter): SqlConditions {
  const conditions = new SqlConditions();
  const [status, ...others] = filter.statuses ?? [];
  // One alone is read in the order of observers_by_status; several have to be sorted.
  if (status !== undefined && others.length === 0) conditions.and("o.status = ?", status);
  else if (filter.statuses !== undefined) conditions.and("o.status = ANY(?)", filter.statuses);
  if (filter.type !== undefined) conditions.and("o.type = ?", filter.type);
  if (filter.pool !== undefined) conditions.and("o.pool = ?", filter.pool);
  if (filter.service?.kind === "id") conditions.and("o.current_service_id = ?", filter.service.id);
  if (filter.service?.kind === "name") {
    conditions.and("o.current_service_id IN (SELECT id FROM services WHERE name = ?)", filter.service.name); // services_by_name
  }
  for (const { key, value } of filter.labels ?? []) {
    // observers_by_labels, which has only those that have labels
    conditions.and("o.labels <> '{}' AND o.labels @> ?::jsonb", JSON.stringify({ [key]: value }));
  }
  if (filter.nameContains !== undefined) conditions.and("o.name ILIKE ?", `%${escapeLike(filter.nameContains)}%`);
  if (filter.errorGroup !== undefined) conditions.and("o.error_group = ?", filter.errorGroup); // observers_by_error_group
  return conditions;
}
