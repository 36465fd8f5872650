import type { ObserverRow } from "../../../services/status-page/src/store/observer-row.ts";

let made = 0;

/** A row as the status page keeps it; a new name and id each. */
export function rowWith(change: Partial<ObserverRow> = {}): ObserverRow {
  made += 1;
  return {
    id: `id-${made}`,
    name: `name-${made}`,
    type: "ticker",
    pool: "default",
    labels: {},
    status: "Processing",
    pending: null,
    silentSince: null,
    restartsLately: 0,
    serviceId: "s1",
    serviceName: "alpha",
    runNumber: 1,
    attempts: 1,
    error: null,
    errorGroup: null,
    createdAt: new Date(1_700_000_000_000 + made).toISOString(),
    modifiedAt: new Date(1_700_000_000_000 + made).toISOString(),
    readAtMs: 1_700_000_000_000 + made,
    ...change,
  };
}
