import { type ObserverFilter, type ObserverStatus, parseLabelSelector } from "@unacked/contracts";
import type { ObserverRow } from "./observer-row.ts";
import { LIVING, STATUSES } from "./statuses.ts";

/** Columns by which the list can be sorted, and what comes first; `newest` if nobody asks. */
export const SORTS = {
  newest: "newest first",
  name: "A to Z",
  status: "those that fail first",
  type: "A to Z",
  service: "A to Z",
  pool: "A to Z",
  silent: "silent for longest first",
  restarts: "most restarts first",
  attempts: "most attempts first",
  runs: "most runs first",
  changed: "changed last first",
  error: "A to Z",
} as const;
export type Sort = keyof typeof SORTS;

const isSort = (text: string): text is Sort => Object.hasOwn(SORTS, text);

/** The contract's filters that are one text each, in the address under the same names; none is "". One that is new has to stand here. */
const NO_TEXTS: Record<Exclude<keyof ObserverFilter, "status" | "labels">, string> = {
  type: "",
  service: "",
  pool: "",
  errorGroup: "",
  q: "",
  silent: "",
};
const TEXTS = Object.keys(NO_TEXTS) as (keyof typeof NO_TEXTS)[];

/** What the list shows: the contract's filter as it stands in the address, also where that is not yet what the manager would take. */
export type ListFilter = typeof NO_TEXTS & {
  /** None: the living ones. */
  statuses: readonly ObserverStatus[];
  /** `key=value` or `key:value`, all of them; as they stand in the address, so also what is none. */
  labels: readonly string[];
  sort: Sort;
  /** What would come first comes last; in the address a minus before the column. */
  isReversed: boolean;
  /** Shown in groups: by `type`, `pool`, `service` or `label:KEY`; "" for the list. */
  group: string;
};

export const NO_FILTER: ListFilter = { ...NO_TEXTS, statuses: [], labels: [], sort: "newest", isReversed: false, group: "" };

export function readFilter(search: string): ListFilter {
  const query = new URLSearchParams(search);
  const group = query.get("group") ?? "";
  const sort = query.get("sort") ?? "newest";
  const column = sort.replace(/^-/, "");
  const asked = new Set(query.getAll("status").flatMap((text) => text.split(",")));
  const texts = Object.fromEntries(TEXTS.map((name) => [name, query.get(name) ?? ""]));
  return {
    ...NO_FILTER,
    ...texts,
    labels: query.getAll("label"),
    group: /^(?:type|pool|service|label:.+)$/.test(group) ? group : "",
    statuses: STATUSES.filter((status) => asked.has(status)),
    ...(isSort(column) && { sort: column, isReversed: sort !== column }),
  };
}

/** The other way round: "" or `?status=Failed&q=btc`. What is not asked for is left out. */
export function writeFilter(filter: ListFilter): string {
  const query = new URLSearchParams();
  if (filter.statuses.length > 0) query.set("status", filter.statuses.join(","));
  for (const name of TEXTS) if (filter[name] !== "") query.set(name, filter[name]);
  for (const label of filter.labels) query.append("label", label);
  if (filter.sort !== "newest" || filter.isReversed) query.set("sort", `${filter.isReversed ? "-" : ""}${filter.sort}`);
  if (filter.group !== "") query.set("group", filter.group);
  const text = query.toString().replaceAll("%2C", ",").replaceAll("%3D", "=");
  return text === "" ? "" : `?${text}`;
}

export function narrows(filter: ListFilter): boolean {
  return filter.statuses.length > 0 || filter.labels.length > 0 || TEXTS.some((name) => filter[name] !== "");
}

export function matcherOf(filter: ListFilter): (row: ObserverRow) => boolean {
  const statuses: ReadonlySet<ObserverStatus> = filter.statuses.length === 0 ? LIVING : new Set(filter.statuses);
  const { type, service, pool, errorGroup, silent } = filter;
  const q = filter.q.trim().toLowerCase();
  const hasLabels = labelMatcher(filter.labels);
  return (row) =>
    statuses.has(row.status) &&
    (type === "" || row.type === type) &&
    (service === "" || row.serviceName === service || row.serviceId === service) &&
    (pool === "" || row.pool === pool) &&
    (errorGroup === "" || row.errorGroup === errorGroup) &&
    (silent === "" || row.silentSince !== null) &&
    (q === "" || row.name.toLowerCase().includes(q) || row.id === q) &&
    hasLabels(row);
}

/** What is no label is refused by the manager: nothing is shown for it, rather than all. */
function labelMatcher(texts: readonly string[]): (row: ObserverRow) => boolean {
  const wanted = texts.map(parseLabelSelector);
  return ({ labels }) =>
    wanted.every((label) => label !== undefined && Object.hasOwn(labels, label.key) && labels[label.key] === label.value);
}
