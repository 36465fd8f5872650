import type { ServiceList } from "@unacked/contracts";
import type { DataSource } from "typeorm";
import { SERVICE_COLUMNS, type ServiceRow, toServiceView } from "./service-view.ts";

/** Index: services_living. */
const LIVING = `
  SELECT ${SERVICE_COLUMNS} FROM services s WHERE s.state IN ('Alive', 'Suspect') ORDER BY s.name, s.started_at, s.id`;

/** Each boot leaves a row; what ended long ago is for the retention to remove. */
const MAX_SERVICES = 1_000;

/** The living ones first, then what ended last. A scan: there are as many rows as there were boots. */
const ALL = `
  SELECT ${SERVICE_COLUMNS} FROM services s
  ORDER BY s.ended_at DESC NULLS FIRST, s.name, s.started_at, s.id LIMIT ${MAX_SERVICES}`;

const COUNT_ALL = "SELECT count(*)::int AS total FROM services";

export async function listServices(dataSource: DataSource, { all }: { all: boolean }): Promise<ServiceList> {
  const rows = await dataSource.query<ServiceRow[]>(all ? ALL : LIVING);
  const items = rows.map(toServiceView);
  if (!all) return { items, total: items.length };
  const [count] = await dataSource.query<{ total: number }[]>(COUNT_ALL);
  return { items, total: count?.total ?? items.length };
}
