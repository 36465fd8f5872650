import type { ListFilter } from "./list-filter.ts";
import type { ObserverRow } from "./observer-row.ts";
import { STATUS_LOOKS, type Tone } from "./statuses.ts";

/** What have the same type, pool or service, or the same value of a label. */
export interface ObserverGroup {
  /** Null: those that have none. */
  name: string | null;
  total: number;
  byTone: Record<Tone, number>;
  silent: number;
  /** Of all of them, in the last 10 minutes. */
  restarts: number;
}

const LABEL = "label:";

/** What `group` of the address may be: `type`, `pool`, `service`, or `label:KEY`. */
export const GROUPS = ["type", "pool", "service"] as const;
export const groupOfLabel = (key: string): string => `${LABEL}${key}`;

const labelKeyOf = (by: string): string | undefined => (by.startsWith(LABEL) ? by.slice(LABEL.length) : undefined);

function nameOf(row: ObserverRow, by: string): string | null {
  const key = labelKeyOf(by);
  if (key !== undefined) return Object.hasOwn(row.labels, key) ? (row.labels[key] ?? null) : null;
  return by === "type" ? row.type : by === "pool" ? row.pool : row.serviceName;
}

/** The largest first. */
export function groupsOf(rows: Iterable<ObserverRow>, by: string): ObserverGroup[] {
  const groups = new Map<string | null, ObserverGroup>();
  for (const row of rows) {
    const name = nameOf(row, by);
    let group = groups.get(name);
    if (group === undefined) {
      group = { name, total: 0, byTone: { good: 0, wait: 0, bad: 0, over: 0 }, silent: 0, restarts: 0 };
      groups.set(name, group);
    }
    group.total += 1;
    group.byTone[STATUS_LOOKS[row.status].tone] += 1;
    if (row.silentSince !== null) group.silent += 1;
    group.restarts += row.restartsLately;
  }
  return [...groups.values()].toSorted((a, b) => b.total - a.total || ((a.name ?? "") < (b.name ?? "") ? -1 : 1));
}

/** The list of one group; undefined where the address cannot say it: those that have none. */
export function filterOfGroup(filter: ListFilter, name: string | null): ListFilter | undefined {
  if (name === null) return undefined;
  const { group } = filter;
  const key = labelKeyOf(group);
  if (key !== undefined) return { ...filter, group: "", labels: [...filter.labels, `${key}=${name}`] };
  return { ...filter, group: "", [group]: name };
}

/** Of labels, those that some of these have. */
export function labelKeysOf(rows: Iterable<ObserverRow>): string[] {
  const keys = new Set<string>();
  for (const { labels } of rows) for (const key in labels) keys.add(key);
  return [...keys].toSorted();
}
