import { looksLikeUuid } from "@unacked/contracts";
import type { SqlConditions } from "../statements/sql-conditions.ts";

/** That a column has the id of this service, or of one of this name. Index of a name: services_by_name. @param column as SQL */
export function andOnService(conditions: SqlConditions, column: string, service: string): void {
  if (looksLikeUuid(service)) conditions.and(`${column} = ?`, service.toLowerCase());
  else conditions.and(`${column} IN (SELECT id FROM services WHERE name = ?)`, service);
}
