import type { FlowView, TaskFailureGroup, TaskTypeFigures, TaskTypeView, TaskView } from "@unacked/contracts";
import { ageOf, shortDuration } from "./durations.ts";
import { errorText, inState, type Listing, MAX_MESSAGE } from "./listing.ts";
import { shortened } from "./plain-text.ts";
import type { Cell } from "./table.ts";

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

/** Of a type, or of a pool. */
export function loadCell({ loadPercent }: Pick<TaskTypeFigures, "loadPercent">): Cell {
  if (loadPercent === null) return { text: "" };
  return { text: `${Math.round(loadPercent)}%`, colour: loadPercent > 100 ? "red" : undefined };
}

/** Counts cover the minute before and the current one. */
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
