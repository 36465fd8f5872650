import type { ObserverStatus } from "@unacked/contracts";
import type { ObserverRow } from "./observer-row.ts";
import { LIVING, STATUSES } from "./statuses.ts";

export type Sort = "newest" | "attempts";

/** What the list shows; in the address under the names that `GET /observers` uses. */
export interface ObserverFilter {
  /** None: the living ones. */
  statuses: readonly ObserverStatus[];
  type: string;
  /** Name or id. */
  service: string;
  pool: string;
  /** `key=value`, or a key alone. */
  label: string;
  /** What its last error has in common with others. */
  errorGroup: string;
  /** A part of the name, in any case. */
  q: string;
  sort: Sort;
}

export const NO_FILTER: ObserverFilter = {
  ...{ statuses: [], type: "", service: "", pool: "", label: "", errorGroup: "", q: "", sort: "newest" },
};

const TEXTS = ["type", "service", "pool", "label", "errorGroup", "q"] as const;

export function readFilter(search: string): ObserverFilter {
  const query = new URLSearchParams(search);
  const asked = new Set(query.getAll("status").flatMap((text) => text.split(",")));
  const texts = Object.fromEntries(TEXTS.map((name) => [name, query.get(name) ?? ""]));
  return {
    ...NO_FILTER,
    ...texts,
    statuses: STATUSES.filter((status) => asked.has(status)),
    sort: query.get("sort") === "attempts" ? "attempts" : "newest",
  };
}

/** The other way round: "" or `?status=Failed&q=btc`. What is not asked for is left out. */
export function writeFilter(filter: ObserverFilter): string {
  const query = new URLSearchParams();
  if (filter.statuses.length > 0) query.set("status", filter.statuses.join(","));
  for (const name of TEXTS) if (filter[name] !== "") query.set(name, filter[name]);
  if (filter.sort !== "newest") query.set("sort", filter.sort);
  const text = query.toString().replaceAll("%2C", ",").replaceAll("%3D", "=");
  return text === "" ? "" : `?${text}`;
}

export function narrows(filter: ObserverFilter): boolean {
  return filter.statuses.length > 0 || TEXTS.some((name) => filter[name] !== "");
}

export function matcherOf(filter: ObserverFilter): (row: ObserverRow) => boolean {
  const statuses: ReadonlySet<ObserverStatus> = filter.statuses.length === 0 ? LIVING : new Set(filter.statuses);
  const { type, service, pool, errorGroup } = filter;
  const q = filter.q.trim().toLowerCase();
  const hasLabel = labelMatcher(filter.label.trim());
  return (row) =>
    statuses.has(row.status) &&
    (type === "" || row.type === type) &&
    (service === "" || row.serviceName === service || row.serviceId === service) &&
    (pool === "" || row.pool === pool) &&
    (errorGroup === "" || row.errorGroup === errorGroup) &&
    (q === "" || row.name.toLowerCase().includes(q) || row.id === q) &&
    hasLabel(row);
}

function labelMatcher(label: string): (row: ObserverRow) => boolean {
  if (label === "") return () => true;
  const [key = "", value] = label.split("=", 2);
  return ({ labels }) => Object.hasOwn(labels, key) && (value === undefined || value === "" || labels[key] === value);
}
