import {
  type AuditEntry,
  type ErrorEntry,
  type ErrorGroup,
  type FlowView,
  OBSERVER_STATUSES,
  type ObserverErrorGroup,
  type ObserverView,
  type OccurrenceView,
  type Pending,
  type RunView,
  type ScheduleView,
  type ServiceView,
  type TaskFailureGroup,
  type TaskTypeFigures,
  type TaskTypeView,
  type TaskView,
  TIMER_PROBLEM_MEANINGS,
  type TimerView,
  type TypeView,
} from "@unacked/contracts";
import { type Colour, type State, stateColour } from "./colours.ts";
import { jsonText } from "./document-text.ts";
import { ageOf, readableBytes, shortDuration } from "./durations.ts";
import { errorLine, type ShownError, thrownAt } from "./errors.ts";
import { plainText, shortened } from "./plain-text.ts";
import type { Cell, Column } from "./table.ts";

/** How a kind of thing is listed. */
export interface Listing<Row> {
  columns: Column<Row>[];
  /** For `-o name`: what other commands take. */
  nameOf(row: Row): string;
}

export const pairs = (labels: Record<string, string>): string =>
  Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(",");

const MAX_MESSAGE = 60;
const MAX_INTERRUPTION = 160;
const errorText = (error: ShownError | null): string => (error === null ? "" : shortened(errorLine(error), MAX_MESSAGE));

const inState = (state: State) => ({ text: state, colour: stateColour(state) });

/** As kubectl says `Ready,SchedulingDisabled`. */
export function serviceState({ state, draining, drained, cordoned, endedAt, notConsuming }: ServiceView): {
  text: string;
  colour?: Colour | undefined;
} {
  if (cordoned && endedAt === null) return { text: `${state},Cordoned`, colour: "yellow" };
  if (notConsuming !== null && !draining) return { text: `${state},Full`, colour: "yellow" };
  if (!draining || endedAt !== null) return inState(state);
  return { text: `${state},${drained ? "Drained" : "Draining"}`, colour: "yellow" };
}

/** Likewise, what is under way beside it. */
export function observerState({ status, pending, silentSince }: ObserverView): { text: string; colour: Colour } {
  if (pending === null && silentSince) return { text: `${status},Silent`, colour: "red" };
  return pending === null ? inState(status) : { text: `${status},${PENDING_WORDS[pending]}`, colour: "yellow" };
}

const PENDING_WORDS: Record<Pending, string> = { pause: "Pausing", update: "Updating" };

/** Of what is wanted; behind the slash what runs, where that is another. */
export function versionText({ specVersion, observedSpecVersion: observed }: ObserverView): string {
  return observed === null || observed === specVersion ? String(specVersion) : `${specVersion}/${observed}`;
}

export const OBSERVER_LISTING: Listing<ObserverView> = {
  nameOf: (observer) => observer.name,
  columns: [
    { heading: "NAME", cell: ({ name }) => name },
    { heading: "TYPE", cell: ({ type }) => type },
    { heading: "STATUS", cell: observerState },
    { heading: "SERVICE", cell: ({ service }) => service?.name ?? "" },
    { heading: "ATTEMPTS", cell: ({ attempts }) => String(attempts), alignsRight: true },
    { heading: "RESTARTS", cell: ({ restartsLately }) => String(restartsLately ?? ""), isWide: true, alignsRight: true },
    { heading: "RUNS", cell: ({ runNumber }) => String(runNumber), alignsRight: true },
    { heading: "AGE", cell: ({ createdAt }, nowMs) => ageOf(createdAt, nowMs) },
    { heading: "SILENT", cell: ({ silentSince }, nowMs) => (silentSince ? ageOf(silentSince, nowMs) : ""), isWide: true },
    { heading: "VERSION", cell: versionText, isWide: true },
    { heading: "POOL", cell: ({ pool }) => pool, isWide: true },
    { heading: "LABELS", cell: ({ labels }) => pairs(labels), isWide: true },
    { heading: "ID", cell: ({ id }) => id, isWide: true },
    { heading: "LAST ERROR", cell: ({ lastError }) => errorText(lastError), isWide: true },
  ],
};

export const TASK_LISTING: Listing<TaskView> = {
  nameOf: (task) => task.id,
  columns: [
    { heading: "ID", cell: ({ id }) => id },
    { heading: "TYPE", cell: ({ type }) => type },
    { heading: "STATUS", cell: ({ status, cancelling }) => (cancelling ? { text: "Cancelling" } : inState(status)) },
    { heading: "WAITS FOR", cell: ({ waitsFor }) => waitsFor ?? "" },
    { heading: "SERVICE", cell: ({ service, taken }) => service?.name ?? (taken === null ? "" : `taken by ${taken.by}`) },
    { heading: "FAILURES", cell: ({ failures }) => String(failures), alignsRight: true },
    { heading: "AGE", cell: ({ createdAt }, nowMs) => ageOf(createdAt, nowMs) },
    { heading: "PRIORITY", cell: ({ priority }) => String(priority), isWide: true, alignsRight: true },
    { heading: "POOL", cell: ({ pool }) => pool, isWide: true },
    { heading: "LAST ERROR", cell: ({ lastError }) => errorText(lastError), isWide: true },
  ],
};

export const FLOW_LISTING: Listing<FlowView> = {
  nameOf: (flow) => flow.id,
  columns: [
    { heading: "ID", cell: ({ id }) => id },
    { heading: "NAME", cell: ({ name }) => name ?? "" },
    { heading: "STATUS", cell: ({ status, cancelling }) => (cancelling ? { text: "Cancelling" } : inState(status)) },
    {
      heading: "OVER",
      cell: ({ tasks }) => `${tasks.completed + tasks.failed + tasks.cancelled}/${tasks.total}`,
      alignsRight: true,
    },
    { heading: "REASON", cell: ({ reason }) => (reason === null ? "" : shortened(reason, MAX_MESSAGE)) },
    { heading: "RUN", cell: ({ run }) => String(run), alignsRight: true },
    { heading: "AGE", cell: ({ createdAt }, nowMs) => ageOf(createdAt, nowMs) },
    { heading: "FAILED", cell: ({ tasks }) => String(tasks.failed), isWide: true, alignsRight: true },
    { heading: "ENDED", cell: ({ endedAt }) => endedAt ?? "", isWide: true },
  ],
};

export const TIMER_LISTING: Listing<TimerView> = {
  nameOf: (timer) => timer.id,
  columns: [
    { heading: "ID", cell: ({ id }) => id },
    { heading: "NAME", cell: ({ name }) => name },
    { heading: "STATUS", cell: ({ status }) => inState(status) },
    { heading: "AT", cell: ({ at }) => at },
    { heading: "RETURNS", cell: ({ returns }) => String(returns), alignsRight: true },
    {
      heading: "LAST PROBLEM",
      cell: ({ lastProblem }) => (lastProblem === null ? "" : TIMER_PROBLEM_MEANINGS[lastProblem]),
    },
    { heading: "AGE", cell: ({ createdAt }, nowMs) => ageOf(createdAt, nowMs) },
    { heading: "EXPIRES", cell: ({ expiresAt }) => expiresAt, isWide: true },
    { heading: "ENDED", cell: ({ endedAt }) => endedAt ?? "", isWide: true },
  ],
};

const whenText = ({ cron, everyMs, hours, timeZone }: ScheduleView): string => {
  if (cron !== null) return `${cron} ${timeZone}`;
  if (everyMs !== null) return `every ${shortDuration(everyMs)}`;
  const spans = (hours ?? []).map(({ days, from, to }) => `${days.length === 7 ? "" : `${days.join(",")} `}${from}-${to}`);
  return `${spans.join("; ")} ${timeZone}`;
};

const whatText = ({ task, wantedNow, observers }: ScheduleView): string =>
  task?.type ?? `observers ${observers?.wanted ?? ""}${wantedNow === null ? "" : `, now ${wantedNow}`}`;

export const SCHEDULE_LISTING: Listing<ScheduleView> = {
  nameOf: ({ id }) => id,
  columns: [
    { heading: "SCHEDULE", cell: ({ id }) => id },
    {
      heading: "STATUS",
      cell: ({ status, problem }) => (problem === null ? inState(status) : { text: "Problem", colour: "red" }),
    },
    { heading: "WHAT", cell: whatText },
    { heading: "WHEN", cell: whenText },
    { heading: "NEXT", cell: ({ nextAt }) => nextAt ?? "" },
    { heading: "LAST", cell: ({ lastOccurrence: last }) => (last === null ? "" : last.status) },
    { heading: "RUNNING", cell: ({ running }) => String(running), alignsRight: true },
    { heading: "QUEUED", cell: ({ queued }) => String(queued), alignsRight: true },
    { heading: "MISSED", cell: ({ missed }) => String(missed), alignsRight: true },
    { heading: "OVERLAP", cell: ({ task, overlap }) => (task === null ? "" : overlap), isWide: true },
    { heading: "CATCH UP", cell: ({ task, catchUp }) => (task === null ? "" : catchUp), isWide: true },
    { heading: "PAUSED BY", cell: ({ pausedBy }) => pausedBy ?? "", isWide: true },
    { heading: "PROBLEM", cell: ({ problem }) => problem ?? "", isWide: true },
    { heading: "DESCRIPTION", cell: ({ description }) => description ?? "", isWide: true },
  ],
};

const OCCURRENCE_COLOURS: Record<OccurrenceView["status"], Colour> = {
  started: "green",
  skipped: "yellow",
  queued: "blue",
  missed: "red",
};

export const OCCURRENCE_LISTING: Listing<OccurrenceView> = {
  nameOf: ({ at }) => at,
  columns: [
    { heading: "AT", cell: ({ at }) => at },
    { heading: "STATUS", cell: ({ status }) => ({ text: status, colour: OCCURRENCE_COLOURS[status] }) },
    { heading: "CAUSE", cell: ({ cause }) => cause },
    { heading: "REASON", cell: ({ reason }) => reason ?? "" },
    { heading: "TASK", cell: ({ taskId }) => taskId ?? "" },
    { heading: "IS", cell: occurrenceIs },
    { heading: "LATE", cell: ({ lateMs }) => shortDuration(lateMs), alignsRight: true },
    { heading: "BEFORE IT MISSED", cell: ({ earlierMissed }) => String(earlierMissed || ""), alignsRight: true },
    { heading: "BY", cell: ({ by }) => by ?? "" },
    { heading: "VERSION", cell: ({ version }) => String(version), isWide: true, alignsRight: true },
    { heading: "DECIDED", cell: ({ decidedAt }) => decidedAt, isWide: true },
  ],
};

function occurrenceIs({ taskStatus, observers }: OccurrenceView): string | Cell {
  if (observers !== null) return `${observers.wanted}, ${observers.changed} changed`;
  return taskStatus === null ? "" : inState(taskStatus);
}

const limitText = (limit: number | null): string => (limit === null ? "" : String(limit));

export const TASK_TYPE_LISTING: Listing<TaskTypeView> = {
  nameOf: ({ type }) => type,
  columns: [
    { heading: "TYPE", cell: ({ type }) => type },
    { heading: "PAUSED", cell: ({ paused }) => (paused ? { text: "paused", colour: "yellow" } : "") },
    { heading: "IN FLIGHT", cell: ({ inFlight }) => String(inFlight), alignsRight: true },
    { heading: "MAX", cell: ({ maxRunning }) => limitText(maxRunning), alignsRight: true },
    { heading: "MIN", cell: ({ minRunning }) => limitText(minRunning || null), alignsRight: true },
    { heading: "PER SECOND", cell: ({ ratePerSecond }) => limitText(ratePerSecond), alignsRight: true },
    { heading: "SERVICES", cell: ({ services }) => String(services), alignsRight: true },
    { heading: "OUTSIDE", cell: ({ outside }) => (outside ? "outside" : "") },
    { heading: "CHANGED", cell: ({ changedAt }, nowMs) => (changedAt === null ? "" : `${ageOf(changedAt, nowMs)} ago`) },
  ],
};

const msText = (ms: number | null): string => (ms === null ? "" : ms < 1_000 ? `${Math.round(ms)}ms` : shortDuration(ms));

function loadCell({ loadPercent }: TaskTypeFigures): string | Cell {
  if (loadPercent === null) return "";
  const text = `${Math.round(loadPercent)}%`;
  return loadPercent > 100 ? { text, colour: "red" } : text;
}

/** What was, is that of the minute before and this one. */
export const TASK_FIGURE_LISTING: Listing<TaskTypeFigures> = {
  nameOf: ({ type }) => type,
  columns: [
    { heading: "TYPE", cell: ({ type }) => type },
    {
      heading: "WAITING",
      cell: ({ waiting, isWaitingExact }) => `${waiting}${isWaitingExact ? "" : "+"}`,
      alignsRight: true,
    },
    { heading: "OLDEST", cell: ({ oldestDueAt }, nowMs) => (oldestDueAt === null ? "" : ageOf(oldestDueAt, nowMs)) },
    { heading: "RUNNING", cell: ({ running }) => String(running), alignsRight: true },
    { heading: "WORKERS", cell: ({ workers }) => String(workers), alignsRight: true },
    { heading: "LOAD", cell: loadCell, alignsRight: true },
    { heading: "CREATED", cell: ({ lately }) => String(lately.created), alignsRight: true },
    { heading: "DONE", cell: ({ lately }) => String(lately.completed), alignsRight: true },
    { heading: "FAILED", cell: ({ lately }) => String(lately.failed), alignsRight: true },
    { heading: "MEAN", cell: ({ lately }) => msText(lately.meanMs), alignsRight: true },
    { heading: "P95", cell: ({ lately }) => msText(lately.p95Ms), alignsRight: true },
  ],
};

export const TASK_FAILURE_LISTING: Listing<TaskFailureGroup> = {
  nameOf: ({ example }) => example.id,
  columns: [
    { heading: "TYPE", cell: ({ type }) => type },
    { heading: "TASKS", cell: ({ count }) => String(count), alignsRight: true },
    { heading: "LAST", cell: ({ lastEndedAt }, nowMs) => `${ageOf(lastEndedAt, nowMs)} ago` },
    { heading: "EXAMPLE", cell: ({ example }) => example.id },
    { heading: "GROUP", cell: ({ group }) => group },
  ],
};

export const SERVICE_LISTING: Listing<ServiceView> = {
  nameOf: (service) => service.name,
  columns: [
    { heading: "NAME", cell: ({ name }) => name },
    { heading: "STATE", cell: serviceState },
    { heading: "RUNNING", cell: ({ running }) => String(running), alignsRight: true },
    { heading: "WORKERS", cell: ({ workerCount }) => String(workerCount), alignsRight: true },
    { heading: "ROOM", cell: ({ free }) => String(free), alignsRight: true },
    { heading: "TASK WORKERS", cell: ({ tasks }) => String(tasks?.workers ?? ""), alignsRight: true },
    { heading: "POOL", cell: ({ pool }) => pool },
    { heading: "SEEN", cell: ({ lastSeenAt }, nowMs) => ageOf(lastSeenAt, nowMs) },
    { heading: "AGE", cell: ({ startedAt }, nowMs) => ageOf(startedAt, nowMs) },
    { heading: "HOST", cell: ({ host }) => host, isWide: true },
    { heading: "PID", cell: ({ pid }) => String(pid), isWide: true, alignsRight: true },
    { heading: "VERSION", cell: ({ version }) => version, isWide: true },
    { heading: "MEMORY", cell: ({ memoryBytes }) => readableBytes(memoryBytes), isWide: true, alignsRight: true },
    { heading: "LAG", cell: ({ eventLoopLagMs }) => `${Math.round(eventLoopLagMs)}ms`, isWide: true, alignsRight: true },
    { heading: "SLOTS", cell: slotCount, isWide: true },
    { heading: "TYPES", cell: ({ types }) => types.join(","), isWide: true },
    { heading: "TASK TYPES", cell: ({ tasks }) => tasks?.types.join(",") ?? "", isWide: true },
    { heading: "ID", cell: ({ id }) => id, isWide: true },
  ],
};

function slotCount({ slots, slotDeathsLately }: ServiceView): string | Cell {
  if (slotDeathsLately === 0) return slots.length === 0 ? "" : String(slots.length);
  return { text: `${slots.length}, ${slotDeathsLately} died`, colour: "red" };
}

/** Of several observers: whose each run is, by what they were asked for. */
export const runsOf = (names: ReadonlyMap<string, string>): Listing<RunView> => ({
  ...RUN_LISTING,
  columns: [{ heading: "OBSERVER", cell: ({ observerId }) => names.get(observerId) ?? observerId }, ...RUN_LISTING.columns],
});

export const RUN_LISTING: Listing<RunView> = {
  nameOf: (run) => run.id,
  columns: [
    { heading: "RUN", cell: ({ runNumber }) => String(runNumber), alignsRight: true },
    { heading: "SERVICE", cell: ({ service }) => service.name ?? service.id },
    { heading: "STATE", cell: ({ state }) => inState(state) },
    { heading: "STARTED", cell: ({ startedAt }, nowMs) => `${ageOf(startedAt, nowMs)} ago` },
    { heading: "LASTED", cell: lasted },
    { heading: "ENDED BY", cell: endedBy },
    { heading: "ERROR", cell: ({ error }) => errorText(error), isWide: true },
    { heading: "THROWN AT", cell: ({ error }) => thrownAt(error?.stack), isWide: true },
    { heading: "REVISION", cell: ({ revision }) => String(revision), isWide: true, alignsRight: true },
    { heading: "ID", cell: ({ id }) => id, isWide: true },
  ],
};

/** With who or what began it again, where that was no fault of its own. */
function endedBy({ endReason, interruption }: RunView): string {
  return interruption === null ? (endReason ?? "") : shortened(`${endReason}: ${interruption}`, MAX_INTERRUPTION);
}

function lasted({ startedAt, endedAt }: RunView, nowMs: number): string {
  return shortDuration((endedAt === null ? nowMs : Date.parse(endedAt)) - Date.parse(startedAt));
}

export const ERROR_LISTING: Listing<ErrorEntry> = {
  nameOf: (error) => error.id,
  columns: [
    { heading: "ID", cell: ({ id }) => id },
    { heading: "REASON", cell: ({ reason }) => reason },
    { heading: "AGE", cell: ({ at }, nowMs) => ageOf(at, nowMs) },
    { heading: "DETAIL", cell: ({ detail }) => shortened(plainText(detail), MAX_MESSAGE) },
    { heading: "OBSERVER", cell: ({ observerId }) => observerId ?? "" },
    { heading: "GROUP", cell: ({ group }) => group, isWide: true },
    { heading: "QUEUE", cell: ({ queue }) => queue, isWide: true },
    { heading: "REPORTER", cell: ({ reporter }) => reporter, isWide: true },
    { heading: "BYTES", cell: ({ bodyBytes }) => String(bodyBytes), isWide: true, alignsRight: true },
  ],
};

export const ERROR_GROUP_LISTING: Listing<ErrorGroup> = {
  nameOf: ({ group }) => group,
  columns: [
    { heading: "COUNT", cell: ({ count }) => String(count), alignsRight: true },
    { heading: "REASON", cell: ({ reason }) => reason },
    { heading: "FIRST", cell: ({ firstSeenAt }, nowMs) => `${ageOf(firstSeenAt, nowMs)} ago` },
    { heading: "LAST", cell: ({ lastSeenAt }, nowMs) => `${ageOf(lastSeenAt, nowMs)} ago` },
    { heading: "EXAMPLE", cell: ({ exampleId }) => exampleId },
    { heading: "GROUP", cell: ({ group }) => group },
  ],
};

export const AUDIT_LISTING: Listing<AuditEntry> = {
  nameOf: (entry) => entry.id,
  columns: [
    { heading: "AT", cell: ({ at }) => at },
    { heading: "WHO", cell: ({ actor }) => actor.name },
    { heading: "ROLE", cell: ({ actor }) => actor.role },
    { heading: "ACTION", cell: ({ action }) => action },
    { heading: "COUNT", cell: ({ count }) => String(count), alignsRight: true },
    { heading: "TO", cell: targetNames },
    { heading: "BY", cell: ({ actor }) => actor.authentication, isWide: true },
    { heading: "FROM", cell: ({ actor }) => actor.address, isWide: true },
    { heading: "REQUEST", cell: ({ requestId }) => requestId, isWide: true },
    { heading: "DETAILS", cell: ({ details }) => detailsText(details), isWide: true },
  ],
};

function targetNames({ targets, count }: AuditEntry): string {
  const more = count > targets.length ? ", …" : "";
  return `${shortened(targets.map(({ name, id }) => name ?? id).join(", "), MAX_MESSAGE)}${more}`;
}

const detailsText = (details: AuditEntry["details"]): string => (Object.keys(details).length === 0 ? "" : jsonText(details));

/** What observers failed of last, counted together. */
export const FAILURE_LISTING: Listing<ObserverErrorGroup> = {
  nameOf: ({ group }) => group,
  columns: [
    { heading: "OBSERVERS", cell: ({ total }) => String(total), alignsRight: true },
    { heading: "STATUS", cell: ({ byStatus }) => statusCounts(byStatus) },
    { heading: "FIRST", cell: ({ firstSeenAt }, nowMs) => `${ageOf(firstSeenAt, nowMs)} ago` },
    { heading: "LAST", cell: ({ lastSeenAt }, nowMs) => `${ageOf(lastSeenAt, nowMs)} ago` },
    { heading: "EXAMPLE", cell: ({ example }) => example.name },
    { heading: "GROUP", cell: ({ group }) => group },
  ],
};

const statusCounts = (byStatus: ObserverErrorGroup["byStatus"]): string =>
  OBSERVER_STATUSES.filter((status) => byStatus[status] > 0)
    .map((status) => `${status} ${byStatus[status]}`)
    .join(", ");

export const TYPE_LISTING: Listing<TypeView> = {
  nameOf: ({ type }) => type,
  columns: [
    { heading: "TYPE", cell: ({ type }) => type },
    { heading: "SERVICES", cell: ({ services }) => String(services.length), alignsRight: true },
    { heading: "POOLS", cell: ({ pools }) => pools.join(",") },
    { heading: "PARAMS", cell: ({ paramsSchema }) => paramNames(paramsSchema).join(",") },
    { heading: "DESCRIPTION", cell: ({ description }) => description ?? "" },
    { heading: "ON", cell: ({ services }) => services.join(","), isWide: true },
  ],
};

/** Of a JSON Schema, whatever it may be; `*` behind those that must be given. */
function paramNames(schema: unknown): string[] {
  const { properties, required } = (schema ?? {}) as { properties?: object; required?: unknown };
  const needed: unknown[] = Array.isArray(required) ? required : [];
  return Object.keys(properties ?? {}).map((name) => (needed.includes(name) ? `${name}*` : name));
}
