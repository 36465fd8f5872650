import {
  type ErrorText,
  LISTED_FIELDS,
  type ListedObserver,
  type ObserverColumns,
  type ObserverView,
} from "@unacked/contracts";
import type { Rejection } from "../../../domain/books/observer-book.ts";
import { shownTime, shownTimeOrNull } from "../../../domain/shown-time.ts";
import type { NewObserver } from "../../../operations/observers/new-observer.ts";
import { RESTARTS_LATELY } from "./restarts.ts";
import { IS_SILENT } from "./silent-observers.ts";

/** A row as SQL reads it, by the names that the fields give to what they read. */
export type ObserverRow = { id: string } & Readonly<Record<string, unknown>>;

/** One field of what REST answers about an observer. */
interface Field<Value> {
  /** What it reads of `observers o` and its service `s`, by the name that it has in the row. */
  reads: Readonly<Record<string, string>>;
  of(row: ObserverRow): Value;
  /** The value for an observer that was created just now. */
  ofNew(observer: NewObserver, now: string): Value;
}

const column = <Value>(name: string, ofNew: Field<Value>["ofNew"]): Field<Value> => ({
  reads: { [name]: `o.${name}` },
  of: (row) => row[name] as Value,
  ofNew,
});

/**
 * As in domain/observers/spec-change.ts: a service of an older version runs what was sent. A manager of an older version does not write
 * the column.
 */
const OBSERVED = "coalesce(o.observed_spec_version, o.sent_spec_version)";

const LAST = shownTime(Number.POSITIVE_INFINITY);

/**
 * PostgreSQL writes the final text: reading a Date out of its output, and writing that again, took 2 µs an observer. What is after
 * the year 9999 is shown as shownTime shows it; `least` would do so with NULL, too.
 */
const isoText = (time: string): string =>
  `CASE WHEN ${time} > '${LAST}' THEN '${LAST}' ELSE to_char(${time} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') END`;

const time = <Value extends string | null>(name: string, ofNew: Field<Value>["ofNew"]): Field<Value> => ({
  reads: { [name]: isoText(`o.${name}`) },
  of: (row) => row[name] as Value,
  ofNew,
});

/** If the contracts gain a field, this does not compile without it. All else that shows an observer is made of these. */
const FIELDS: { [Name in keyof Required<ObserverView>]: Field<ObserverView[Name]> } = {
  id: column("id", ({ id }) => id),
  name: column("name", ({ name }) => name),
  type: column("type", ({ type }) => type),
  params: column("params", ({ params }) => params),
  labels: column("labels", ({ labels }) => labels),
  pool: column("pool", ({ pool }) => pool),
  retry: column("retry", ({ retry }) => retry as ObserverView["retry"]),
  silence: column("silence", ({ silence }) => silence ?? null),
  silentSince: {
    // A manager of an older version leaves it as it was when the run ends.
    reads: { silent_since: `CASE WHEN ${IS_SILENT} THEN ${isoText("o.silent_since")} END` },
    of: ({ silent_since: since }) => since as string | null,
    ofNew: () => null,
  },
  status: column("status", ({ startsLater }) => (startsLater === true ? "Scheduled" : "Created")),
  pending: {
    // An update is pending for as long as the run is behind; the state machine itself does not know it (domain/observers/run-update.ts).
    reads: {
      pending: `CASE WHEN o.pending IS NULL AND o.current_run_id IS NOT NULL AND o.status IN ('Processing', 'Retrying')
                       AND ${OBSERVED} < o.needed_spec_version
                       AND coalesce((o.rejected_update ->> 'specVersion')::int, 0) < o.needed_spec_version
                     THEN 'update' ELSE o.pending END`,
    },
    of: ({ pending }) => pending as ObserverView["pending"],
    ofNew: () => null,
  },
  service: {
    reads: { current_service_id: "o.current_service_id", service_name: "s.name" },
    of: ({ current_service_id: id, service_name: name }) =>
      typeof id === "string" ? { id, name: typeof name === "string" ? name : "" } : null,
    ofNew: () => null,
  },
  currentRunId: column("current_run_id", () => null),
  specVersion: column("spec_version", ({ specVersion = 1 }) => specVersion),
  observedSpecVersion: {
    // From needed_spec_version on nothing has to be told, so later versions count as observed at once. Restored books may be behind a run.
    reads: {
      observed: `CASE WHEN o.current_run_id IS NULL THEN NULL
                      WHEN ${OBSERVED} BETWEEN o.needed_spec_version AND o.spec_version THEN o.spec_version
                      ELSE ${OBSERVED} END`,
    },
    of: ({ observed }) => observed as number | null,
    ofNew: () => null,
  },
  rejectedUpdate: {
    reads: { rejected_update: "o.rejected_update" },
    of: ({ rejected_update: rejection }) => rejectionOf(rejection as Rejection | null),
    ofNew: () => null,
  },
  revision: column("revision", ({ revision = 1 }) => revision),
  runNumber: column("epoch", () => 0),
  epoch: column("epoch", () => 0),
  restartsLately: {
    reads: { restarts_lately: RESTARTS_LATELY },
    of: ({ restarts_lately: restarts }) => restarts as number,
    ofNew: () => 0,
  },
  fencingToken: {
    reads: { fencing_token: "o.fencing_token::float8" },
    of: ({ fencing_token: token }) => token as number | null,
    ofNew: () => null,
  },
  waitsFor: {
    reads: { waits_for: "CASE WHEN o.requested_run_id IS NOT NULL AND o.current_run_id IS NULL THEN 'admission' END" },
    of: ({ waits_for: what }) => what as ObserverView["waitsFor"],
    ofNew: () => null,
  },
  attempts: column("attempts", () => 0),
  lastError: {
    // A stack may be longer than all else, so only a single observer is shown with it (OBSERVER_DETAILS).
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

const readsOf = (fields: readonly Field<unknown>[]): string =>
  [
    ...new Set(fields.flatMap(({ reads }) => Object.entries(reads).map(([name, expression]) => `${expression} AS ${name}`))),
  ].join(", ");

/** Everything an ObserverView shows of one among many, of `observers o`; join OBSERVER_SERVICE with it. Index: services_pkey. */
export const OBSERVER_COLUMNS = readsOf(ALL.map(([, field]) => field));

/** Those among them that may be long. `rejected_update` has the params with which a run goes on that has rejected newer ones. */
export const LARGE_COLUMNS = ["params", "last_error", "rejected_update"];

/** Nobody reads more in a table, and a page of thousands that failed with the same long text is more than a manager has memory for. */
const LISTED_MESSAGE = 1_000;

const LISTED: typeof FIELDS = {
  ...FIELDS,
  lastError: {
    ...FIELDS.lastError,
    reads: {
      ...FIELDS.lastError.reads,
      last_error: `CASE WHEN length(o.last_error ->> 'message') > ${LISTED_MESSAGE}
                        THEN jsonb_set(o.last_error - 'stack', '{message}', to_jsonb(left(o.last_error ->> 'message', ${LISTED_MESSAGE})))
                        ELSE o.last_error - 'stack' END`,
    },
  },
};

export const LISTED_COLUMNS = readsOf(LISTED_FIELDS.map((name) => LISTED[name]));

/** For a single observer: with the stack. */
export const OBSERVER_DETAILS = `${OBSERVER_COLUMNS}, o.last_error ->> 'stack' AS stack`;

export const OBSERVER_SERVICE = "LEFT JOIN services s ON s.id = o.current_service_id";

/** @param row of OBSERVER_COLUMNS, or of OBSERVER_DETAILS */
export const toObserverView = (row: ObserverRow): ObserverView => madeOf((field) => field.of(row));

/** @param rows of LISTED_COLUMNS */
export function toColumns(rows: readonly ObserverRow[]): Pick<ObserverColumns, "columns" | "services"> {
  const columns: Partial<Record<keyof ListedObserver, unknown[]>> = {};
  for (const name of LISTED_FIELDS) columns[name] = rows.map((row) => FIELDS[name].of(row));
  const on = columns.service as ListedObserver["service"][];
  const services = [...new Map(on.flatMap((service) => (service === null ? [] : [[service.id, service]]))).values()];
  const places = new Map(services.map(({ id }, place) => [id, place]));
  columns.service = on.map((service) => (service === null ? null : places.get(service.id)));
  return { columns: columns as ObserverColumns["columns"], services };
}

/** Shows it as the insert left it: reading ten thousand rows back takes longer than writing them. */
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
  return { ...last_error, ...(stack && { stack }), group: error_group ?? "", at: shownTimeOrNull(last_error_at) };
}

function rejectionOf(rejection: Rejection | null): ObserverView["rejectedUpdate"] {
  if (rejection === null) return null;
  const { atMs, ...about } = rejection;
  return { ...about, at: shownTime(atMs) };
}
