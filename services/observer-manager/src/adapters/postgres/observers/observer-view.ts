import type { ErrorText, ObserverView } from "@unacked/contracts";
import type { NewObserver } from "../../../operations/observers/new-observer.ts";

/** A row as SQL reads it, by the names that the fields give to what they read. */
export type ObserverRow = { id: string } & Readonly<Record<string, unknown>>;

/** One field of what REST answers about an observer. */
interface Field<Value> {
  /** What it reads of `observers o` and its service `s`, by the name that it has in the row. */
  reads: Readonly<Record<string, string>>;
  of(row: ObserverRow): Value;
  /** Of one that was created just now. */
  ofNew(observer: NewObserver, now: string): Value;
}

const column = <Value>(name: string, ofNew: Field<Value>["ofNew"]): Field<Value> => ({
  reads: { [name]: `o.${name}` },
  of: (row) => row[name] as Value,
  ofNew,
});

const time = <Value extends string | null>(name: string, ofNew: Field<Value>["ofNew"]): Field<Value> => ({
  reads: { [name]: `o.${name}` },
  of: (row) => isoOf(row[name] as Date | null) as Value,
  ofNew,
});

/** A field that the contracts gain is missing here, and does not compile; what all else shows of an observer is made of these. */
const FIELDS: { [Name in keyof Required<ObserverView>]: Field<ObserverView[Name]> } = {
  id: column("id", ({ id }) => id),
  name: column("name", ({ name }) => name),
  type: column("type", ({ type }) => type),
  params: column("params", ({ params }) => params),
  labels: column("labels", ({ labels }) => labels),
  pool: column("pool", ({ pool }) => pool),
  retry: column("retry", ({ retry }) => retry as ObserverView["retry"]),
  status: column("status", ({ startsLater }) => (startsLater === true ? "Scheduled" : "Created")),
  pending: column("pending", () => null),
  service: {
    reads: { current_service_id: "o.current_service_id", service_name: "s.name" },
    of: ({ current_service_id: id, service_name: name }) =>
      typeof id === "string" ? { id, name: typeof name === "string" ? name : "" } : null,
    ofNew: () => null,
  },
  currentRunId: column("current_run_id", () => null),
  revision: column("revision", ({ revision = 1 }) => revision),
  runNumber: column("epoch", () => 0),
  epoch: column("epoch", () => 0),
  attempts: column("attempts", () => 0),
  lastError: {
    // A stack may be longer than all else, so it stands with a single observer alone (OBSERVER_DETAILS).
    reads: {
      last_error: "o.last_error - 'stack'",
      error_group: "o.error_group",
      last_error_at: "o.last_error_at",
    },
    of: (row) => lastErrorOf(row as unknown as LastErrorRow),
    ofNew: () => null,
  },
  nextAttemptAt: time("next_attempt_at", () => null),
  startAt: time("start_at", ({ startAt }) => (startAt === undefined ? null : new Date(startAt).toISOString())),
  startProblem: {
    reads: { start_problem: "CASE WHEN o.status = 'Scheduled' THEN o.start_problem END" },
    of: ({ start_problem: problem }) => problem as ObserverView["startProblem"],
    ofNew: () => null,
  },
  createdAt: time("created_at", ({ createdAt }, now) => createdAt ?? now),
  modifiedAt: time("modified_at", (_observer, now) => now),
};

const ALL = Object.entries(FIELDS) as [keyof ObserverView, Field<unknown>][];

/** Everything an ObserverView shows of one among many, of `observers o`; join OBSERVER_SERVICE with it. Index: services_pkey. */
export const OBSERVER_COLUMNS = ALL.flatMap(([, { reads }]) => Object.entries(reads))
  .map(([name, expression]) => `${expression} AS ${name}`)
  .join(", ");

/** Of a single one: with the stack. */
export const OBSERVER_DETAILS = `${OBSERVER_COLUMNS}, o.last_error ->> 'stack' AS stack`;

export const OBSERVER_SERVICE = "LEFT JOIN services s ON s.id = o.current_service_id";

/** @param row of OBSERVER_COLUMNS, or of OBSERVER_DETAILS */
export const toObserverView = (row: ObserverRow): ObserverView => madeOf((field) => field.of(row));

/** As the insert left it: reading ten thousand rows back takes longer than writing them. */
export const viewOfNew = (observer: NewObserver, now: string): ObserverView => madeOf((field) => field.ofNew(observer, now));

function madeOf(valueOf: (field: Field<unknown>) => unknown): ObserverView {
  const view: Partial<Record<keyof ObserverView, unknown>> = {};
  for (const [name, field] of ALL) view[name] = valueOf(field);
  return view as ObserverView;
}

export interface LastErrorRow {
  last_error: Pick<ErrorText, "name" | "message"> | null;
  stack?: string | null;
  error_group: string | null;
  last_error_at: Date | null;
}

export function lastErrorOf({ last_error, stack, error_group, last_error_at }: LastErrorRow): ObserverView["lastError"] {
  if (last_error === null) return null;
  return { ...last_error, ...(stack && { stack }), group: error_group ?? "", at: isoOf(last_error_at) };
}

export function isoOf(time: Date | null): string | null {
  return time === null ? null : time.toISOString();
}
