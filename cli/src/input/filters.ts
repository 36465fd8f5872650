import {
  Labels,
  OBSERVER_STATUSES,
  type ObserverFilter,
  type ObserverStatus,
  type ObserverView,
  type QueryOf,
} from "@unacked/contracts";
import { usageFailure } from "../failure.ts";
import type { Kind } from "./kinds.ts";

export const FILTER_KEYS = [
  "status",
  "type",
  "service",
  "pool",
  "label",
  "q",
  "errorGroup",
  "silent",
] as const satisfies (keyof QueryOf<"listObservers">)[];
type FilterKey = (typeof FILTER_KEYS)[number];

/** A filter as the contracts have it, with the statuses as a list. */
export type ParsedFilter = Omit<ObserverFilter, "status"> & { status?: ObserverStatus[] };

/**
 * Parses filters: `status=Failed,Retrying`, `type=ticker`, `service=…`, `pool=…`, `label=team=a`, `q=<part of the name, or the id>`,
 * `errorGroup=…`, `silent=true`; and selectors like kubectl's `-l`: `team=a,tier=b`. Statuses may have any case. `undefined` if nothing is
 * asked.
 */
export function parseFilters(filters: string[] = [], selectors: string[] = []): ParsedFilter | undefined {
  if (filters.length === 0 && selectors.length === 0) return undefined;
  const found: ParsedFilter = {};
  for (const text of filters) addFilter(found, text);
  for (const text of selectors.flatMap((selector) => selector.split(","))) addLabel(found, text);
  return found;
}

function addFilter(found: ParsedFilter, text: string): void {
  const equals = text.indexOf("=");
  const [key, value] = [text.slice(0, Math.max(0, equals)), text.slice(equals + 1)];
  if (!isFilterKey(key) || value === "") {
    throw usageFailure(`"${text}" is not a filter`, `Write it as key=value; the keys are ${FILTER_KEYS.join(", ")}.`);
  }
  if (key === "status") found.status = [...(found.status ?? []), ...value.split(",").map(toStatus)];
  else if (key === "label") addLabel(found, value);
  else if (key === "silent") found.silent = onlyTrue(value);
  else if (found[key] === undefined) found[key] = key === "type" ? oneType(value) : value;
  else throw givenTwice(key, FILTER_KEYS);
}

/** A key that is given twice is refused: if only the last one counted, it would show, or cancel, what nobody asked for. */
function givenTwice(key: string, keys: readonly string[]) {
  const repeatable = ["status", "label"].filter((each) => keys.includes(each)).join(" and ");
  return usageFailure(
    `--filter ${key} is given twice`,
    repeatable === "" ? "None may be repeated." : `Only ${repeatable} may be repeated.`,
  );
}

/** No type's name has a comma, so this was meant as for statuses. */
function oneType(text: string): string {
  if (text.includes(",")) throw usageFailure(`type=${text}: a filter takes one type`, "Only status takes several.");
  return text;
}

function onlyTrue(text: string): true {
  if (text !== "true") throw usageFailure(`silent=${text} is not a filter`, "Write silent=true, or leave it out for all.");
  return true;
}

const isFilterKey = (key: string): key is FilterKey => (FILTER_KEYS as readonly string[]).includes(key);

const ERROR_FILTER_KEYS = ["reason", "group", "observer"] as const satisfies (keyof QueryOf<"listErrors">)[];

/** For errors: `reason=…`, `group=…`, `observer=NAME`. */
export const parseErrorFilters = (filters: string[] = []) => parsePairs(filters, ERROR_FILTER_KEYS, "errors");

const TASK_FILTER_KEYS = ["status", "type", "service", "pool", "q"] as const satisfies (keyof QueryOf<"listTasks">)[];

/** For tasks: `status=Failed,Cancelled`, `type=…`, `service=<where it runs>`, `pool=…`, `q=<how the id begins>`. */
export const parseTaskFilters = (filters: string[] = []) => parsePairs(filters, TASK_FILTER_KEYS, "tasks");

/** Of tasks that are to be changed. */
export const TASK_CHANGE_FILTER_KEYS = ["status", "type", "pool"] as const satisfies (typeof TASK_FILTER_KEYS)[number][];

export const parseTaskChangeFilters = (filters: string[] = []) =>
  parsePairs(filters, TASK_CHANGE_FILTER_KEYS, "tasks that are to be changed");

/** Of tasks that are to run again. */
export const RERUN_FILTER_KEYS = [...TASK_CHANGE_FILTER_KEYS, "errorGroup"] as const;

/** For tasks that are to run again: `errorGroup=<as failures are grouped>`, too. */
export const parseRerunFilters = (filters: string[] = []) => parsePairs(filters, RERUN_FILTER_KEYS, "tasks");

const TASK_FAILURE_FILTER_KEYS = ["type", "pool"] as const satisfies (keyof QueryOf<"groupTaskFailures">)[];

/** For failed tasks, grouped: `type=…`, `pool=…`. */
export const parseTaskFailureFilters = (filters: string[] = []) =>
  parsePairs(filters, TASK_FAILURE_FILTER_KEYS, "failed tasks");

const FLOW_FILTER_KEYS = ["status", "name"] as const satisfies (keyof QueryOf<"listFlows">)[];

/** For flows: `status=Failed,Cancelled`, `name=…`. */
export const parseFlowFilters = (filters: string[] = []) => parsePairs(filters, FLOW_FILTER_KEYS, "flows");

const TIMER_FILTER_KEYS = ["status", "name", "prefix"] as const satisfies (keyof QueryOf<"listTimers">)[];

/** For timers: `status=Waiting,Firing`, `name=…`, `prefix=<how the name begins>`. */
export const parseTimerFilters = (filters: string[] = []) => parsePairs(filters, TIMER_FILTER_KEYS, "timers");

const SCHEDULE_FILTER_KEYS = ["status", "type", "q"] as const satisfies (keyof QueryOf<"listSchedules">)[];

/** For schedules: `status=Paused`, `type=<of the task>`, `q=<a part of the id>`. */
export const parseScheduleFilters = (filters: string[] = []) => parsePairs(filters, SCHEDULE_FILTER_KEYS, "schedules");

const AUDIT_FILTER_KEYS = [
  "actor",
  "action",
  "observer",
  "target",
  "targetKind",
  "requestId",
  "since",
  "until",
] as const satisfies (keyof QueryOf<"listAudit">)[];

/** For the audit trail: `actor=anna`, `action=observer.stop`, `target=<id or name>`, `since=2026-11-20T09:00:00Z`, … */
export const parseAuditFilters = (filters: string[] = []) => parsePairs(filters, AUDIT_FILTER_KEYS, "the audit trail");

/** The filter keys of each kind that takes filters. */
export const FILTER_KEYS_OF: Readonly<Partial<Record<Kind, readonly string[]>>> = {
  observers: FILTER_KEYS,
  errors: ERROR_FILTER_KEYS,
  tasks: TASK_FILTER_KEYS,
  "task-failures": TASK_FAILURE_FILTER_KEYS,
  flows: FLOW_FILTER_KEYS,
  timers: TIMER_FILTER_KEYS,
  schedules: SCHEDULE_FILTER_KEYS,
  audit: AUDIT_FILTER_KEYS,
};

/** The filter keys of all kinds together. */
export const ALL_FILTER_KEYS: ReadonlySet<string> = new Set(Object.values(FILTER_KEYS_OF).flat());

function parsePairs<Key extends string>(
  filters: string[],
  keys: readonly Key[],
  what: string,
): Partial<Record<Key, string>> {
  const found: Partial<Record<Key, string>> = {};
  for (const text of filters) {
    const [, key = "", value = ""] = /^([a-zA-Z]+)=(.+)$/s.exec(text) ?? [];
    const known = keys.find((each) => each === key);
    if (known === undefined)
      throw usageFailure(`"${text}" is not a filter of ${what}`, `Write it as key=value; the keys are ${keys.join(", ")}.`);
    const before = found[known];
    if (before !== undefined && known !== "status") throw givenTwice(known, keys);
    if (known === "type") oneType(value);
    found[known] = before === undefined ? value : `${before},${value}`;
  }
  return found;
}

/** Returns the status as the contract spells it, in whatever case it was typed. */
export function toStatus(text: string): ObserverStatus {
  const status = OBSERVER_STATUSES.find((each) => each.toLowerCase() === text.toLowerCase());
  if (status === undefined) throw usageFailure(`"${text}" is not a status`, `They are ${OBSERVER_STATUSES.join(", ")}.`);
  return status;
}

/** Labels are checked here, so that a mistyped selector does not stop other observers than were meant. */
function addLabel(found: ParsedFilter, text: string): void {
  const [key, value] = parseLabel(text);
  const before = found.labels?.[key];
  if (before !== undefined && before !== value)
    throw usageFailure(`No observer has ${key}=${before} and ${key}=${value} at once`);
  found.labels = { ...found.labels, [key]: value };
}

function parseLabel(text: string): [key: string, value: string] {
  const equals = text.indexOf("=");
  const [key, value] = [text.slice(0, Math.max(0, equals)), text.slice(equals + 1)];
  const isLabel = key !== "__proto__" && Labels.safeParse({ [key]: value }).success;
  if (isLabel) return [key, value];
  const flaw =
    equals === -1 ? "it has no =" : (partFlaw("key", key) ?? partFlaw("value", value) ?? "that key is not allowed");
  throw usageFailure(`"${text}" is not a label: ${flaw}`, HOW_LABELS_ARE_WRITTEN);
}

const HOW_LABELS_ARE_WRITTEN = "Write it as key=value, each of 1 to 128 characters of A-Z a-z 0-9 . _ : - and no others.";

/** Which of the contract's rules for labels it breaks, and where. */
function partFlaw(part: "key" | "value", text: string): string | undefined {
  if (text === "") return `its ${part} is empty`;
  const [wrong] = text.match(/[^A-Za-z0-9._:-]/u) ?? [];
  if (wrong !== undefined) return `its ${part} has "${wrong}" at ${text.indexOf(wrong) + 1}`;
  return text.length > 128 ? `its ${part} has ${text.length} characters` : undefined;
}

/** Parses `--label team=a`, for what is created. */
export const parseLabels = (labels: string[]): Record<string, string> => Object.fromEntries(labels.map(parseLabel));

/** Parses the same for what may exist already. `team=` has no value and removes the label. */
export function parseLabelChange(text: string): [key: string, value: string] {
  const key = text.slice(0, -1);
  const takesAway = text.indexOf("=") === key.length && key !== "__proto__" && partFlaw("key", key) === undefined;
  return takesAway ? [key, ""] : parseLabel(text);
}

/** The filter as query parameters of the list. */
export const toQuery = ({ labels = {}, ...rest }: ObserverFilter) => ({
  ...rest,
  label: Object.entries(labels).map(([key, value]) => `${key}=${value}`),
});

/** Whether an observer matches a filter, decided as the manager does for a list. */
export function matchesFilter(observer: ObserverView, filter: ParsedFilter): boolean {
  const { status, type, service, pool, labels = {}, q, errorGroup, silent } = filter;
  return (
    (status === undefined || status.includes(observer.status)) &&
    (type === undefined || observer.type === type) &&
    (service === undefined || observer.service?.name === service || observer.service?.id === service.toLowerCase()) &&
    (pool === undefined || observer.pool === pool) &&
    (errorGroup === undefined || observer.lastError?.group === errorGroup) &&
    (silent === undefined || observer.silentSince !== null) &&
    (q === undefined || observer.name.toLowerCase().includes(q.toLowerCase()) || observer.id === q.toLowerCase()) &&
    Object.entries(labels).every(([key, value]) => Object.hasOwn(observer.labels, key) && observer.labels[key] === value)
  );
}
