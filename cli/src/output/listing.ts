import {
  type AuditEntry,
  type ErrorEntry,
  type ErrorGroup,
  OBSERVER_STATUSES,
  type ObserverErrorGroup,
  type ObserverView,
  type RunView,
  type ServiceView,
  type TypeView,
} from "@unacked/contracts";
import { type Colour, stateColour } from "./colours.ts";
import { ageOf, readableBytes, shortDuration } from "./durations.ts";
import { plainText, shortened } from "./plain-text.ts";
import type { Column } from "./table.ts";

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
const errorText = (error: { name: string; message: string } | null): string =>
  error === null ? "" : shortened(plainText(`${error.name}: ${error.message}`), MAX_MESSAGE);

const inState = (state: string) => ({ text: state, colour: stateColour(state) });

/** As kubectl says `Ready,SchedulingDisabled`. */
export function serviceState({ state, draining, drained, endedAt }: ServiceView): {
  text: string;
  colour?: Colour | undefined;
} {
  if (!draining || endedAt !== null) return inState(state);
  return { text: `${state},${drained ? "Drained" : "Draining"}`, colour: "yellow" };
}

export const OBSERVER_LISTING: Listing<ObserverView> = {
  nameOf: (observer) => observer.name,
  columns: [
    { heading: "NAME", cell: ({ name }) => name },
    { heading: "TYPE", cell: ({ type }) => type },
    { heading: "STATUS", cell: ({ status }) => inState(status) },
    { heading: "SERVICE", cell: ({ service }) => service?.name ?? "" },
    { heading: "ATTEMPTS", cell: ({ attempts }) => String(attempts), alignsRight: true },
    { heading: "RUNS", cell: ({ epoch }) => String(epoch), alignsRight: true },
    { heading: "AGE", cell: ({ createdAt }, nowMs) => ageOf(createdAt, nowMs) },
    { heading: "POOL", cell: ({ pool }) => pool, isWide: true },
    { heading: "LABELS", cell: ({ labels }) => pairs(labels), isWide: true },
    { heading: "ID", cell: ({ id }) => id, isWide: true },
    { heading: "LAST ERROR", cell: ({ lastError }) => errorText(lastError), isWide: true },
  ],
};

export const SERVICE_LISTING: Listing<ServiceView> = {
  nameOf: (service) => service.name,
  columns: [
    { heading: "NAME", cell: ({ name }) => name },
    { heading: "STATE", cell: serviceState },
    { heading: "RUNNING", cell: ({ running }) => String(running), alignsRight: true },
    { heading: "WORKERS", cell: ({ workerCount }) => String(workerCount), alignsRight: true },
    { heading: "POOL", cell: ({ pool }) => pool },
    { heading: "SEEN", cell: ({ lastSeenAt }, nowMs) => ageOf(lastSeenAt, nowMs) },
    { heading: "AGE", cell: ({ startedAt }, nowMs) => ageOf(startedAt, nowMs) },
    { heading: "HOST", cell: ({ host }) => host, isWide: true },
    { heading: "PID", cell: ({ pid }) => String(pid), isWide: true, alignsRight: true },
    { heading: "VERSION", cell: ({ version }) => version, isWide: true },
    { heading: "MEMORY", cell: ({ memoryBytes }) => readableBytes(memoryBytes), isWide: true, alignsRight: true },
    { heading: "LAG", cell: ({ eventLoopLagMs }) => `${Math.round(eventLoopLagMs)}ms`, isWide: true, alignsRight: true },
    { heading: "TYPES", cell: ({ types }) => types.join(","), isWide: true },
    { heading: "ID", cell: ({ id }) => id, isWide: true },
  ],
};

export const RUN_LISTING: Listing<RunView> = {
  nameOf: (run) => run.id,
  columns: [
    { heading: "RUN", cell: ({ epoch }) => String(epoch), alignsRight: true },
    { heading: "SERVICE", cell: ({ service }) => service.name ?? service.id },
    { heading: "STATE", cell: ({ state }) => inState(state) },
    { heading: "STARTED", cell: ({ startedAt }, nowMs) => `${ageOf(startedAt, nowMs)} ago` },
    { heading: "LASTED", cell: lasted },
    { heading: "ENDED BY", cell: ({ endReason }) => endReason ?? "" },
    { heading: "ERROR", cell: ({ error }) => errorText(error), isWide: true },
    { heading: "REVISION", cell: ({ revision }) => String(revision), isWide: true, alignsRight: true },
    { heading: "ID", cell: ({ id }) => id, isWide: true },
  ],
};

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
    { heading: "DEED", cell: ({ deed }) => deed },
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

const detailsText = (details: AuditEntry["details"]): string =>
  Object.keys(details).length === 0 ? "" : plainText(JSON.stringify(details));

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
