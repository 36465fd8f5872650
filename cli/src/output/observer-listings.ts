import {
  OBSERVER_STATUSES,
  type ObserverErrorGroup,
  type ObserverView,
  type Pending,
  type RunView,
  type TypeView,
} from "@unacked/contracts";
import type { Colour } from "./colours.ts";
import { ageOf, shortDuration } from "./durations.ts";
import { thrownAt } from "./errors.ts";
import { errorText, inState, type Listing, pairs } from "./listing.ts";
import { shortened } from "./plain-text.ts";
import { inWords } from "./words.ts";

/** The status, with pending changes beside it: `Processing,Pausing`. */
export function observerState({ status, pending, silentSince }: ObserverView): { text: string; colour: Colour } {
  if (pending === null && silentSince) return { text: `${status},Silent`, colour: "red" };
  return pending === null ? inState(status) : { text: `${status},${inWords(PENDING_WORDS, pending)}`, colour: "yellow" };
}

const PENDING_WORDS: Record<Pending, string> = { pause: "Pausing", update: "Updating" };

/** The version that is wanted, and behind a slash the one that runs, if it is another. */
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

/** The runs of several observers, each with the name that was asked for. */
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

const MAX_INTERRUPTION = 160;

/** The end reason, and who or what ended the run if that was no fault of its own. */
function endedBy({ endReason, interruption }: RunView): string {
  return interruption === null ? (endReason ?? "") : shortened(`${endReason}: ${interruption}`, MAX_INTERRUPTION);
}

function lasted({ startedAt, endedAt }: RunView, nowMs: number): string {
  return shortDuration((endedAt === null ? nowMs : Date.parse(endedAt)) - Date.parse(startedAt));
}

/** The errors that observers failed with last, counted in groups. */
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

/** The params of a JSON Schema, which may be of any form; `*` marks required ones. */
function paramNames(schema: unknown): string[] {
  const { properties, required } = (schema ?? {}) as { properties?: object; required?: unknown };
  const needed: unknown[] = Array.isArray(required) ? required : [];
  return Object.keys(properties ?? {}).map((name) => (needed.includes(name) ? `${name}*` : name));
}
