import { type ObserverView, type ServiceView, traitsOf } from "@unacked/contracts";
import { observerState } from "./observer-listings.ts";
import { plainText, shortened } from "./plain-text.ts";
import { serviceState } from "./service-listing.ts";
import type { Column } from "./table.ts";

export type ShownChange =
  /** `begun` is the run that has begun since the change before, if one has. */
  { kind: "observer"; view: ObserverView; begun?: string } | { kind: "service"; view: ServiceView };

const MAX_MESSAGE = 80;

/** The columns of `unacked watch`, one line for each change. */
export const CHANGE_COLUMNS: Column<ShownChange>[] = [
  { heading: "TIME", cell: (_change, nowMs) => new Date(nowMs).toISOString().slice(11, 23) },
  { heading: "NAME", cell: ({ view }) => view.name },
  { heading: "STATUS", cell: statusOf },
  { heading: "SERVICE", cell: (change) => (change.kind === "service" ? "" : (change.view.service?.name ?? "")) },
  { heading: "NOTE", cell: noteOf },
];

function statusOf(change: ShownChange) {
  if (change.kind === "service") return serviceState(change.view);
  return observerState(change.view);
}

function noteOf(change: ShownChange): string {
  if (change.kind === "service") return `service: ${change.view.running} of ${change.view.workerCount} workers used`;
  const { begun = "" } = change;
  const { attempts, lastError, status } = change.view;
  const isTroubled = lastError !== null && traitsOf(status).isFailing;
  return isTroubled
    ? shortened(plainText(`attempt ${attempts}: ${lastError.name}: ${lastError.message}`), MAX_MESSAGE)
    : begun;
}

/** Tells, change by change, whether an observer's next run has begun, and whether it has moved for it. */
export function newsOfRuns(): (view: ObserverView) => string {
  const last = new Map<string, { runNumber: number; service: string | undefined }>();
  return ({ id, runNumber, service, status }) => {
    const before = last.get(id);
    if (service === null || status !== "Processing") {
      if (before === undefined) last.set(id, { runNumber, service: service?.name });
      return "";
    }
    last.set(id, { runNumber, service: service.name });
    if (before === undefined) return runNumber > 1 ? `run ${runNumber}` : "";
    if (before.runNumber === 0 || before.runNumber === runNumber) return "";
    const moved =
      before.service === undefined || before.service === service.name ? "restarted" : `moved from ${before.service}`;
    return `${moved}: run ${runNumber}`;
  };
}

/**
 * Whether a change of a service is worth a line. A service reports every few seconds; only a new state or number of observers
 * is news.
 */
export function newsOfServices(): (view: ServiceView) => boolean {
  const last = new Map<string, string>();
  return (view) => {
    const now = `${serviceState(view).text} ${view.running} ${view.workerCount} ${view.generation}`;
    const isNews = last.get(view.id) !== now;
    last.set(view.id, now);
    return isNews;
  };
}
