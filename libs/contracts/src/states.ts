import { z } from "zod";

export const OBSERVER_STATUSES = [
  "Created",
  "Processing",
  "Retrying",
  "Redistributing",
  "OnDeleting",
  "Deleted",
  "Failed",
  "Completed",
] as const;

/**
 * Where an observer stands in the books.
 * Created: sent, nobody has it yet · Processing: a run is current · Retrying: its handler threw and waits, still unacked ·
 * Redistributing: its service died or let go, the broker is giving it to another · OnDeleting: stop broadcast, not yet answered ·
 * Deleted · Failed: retries used up · Completed: its handler returned.
 */
export const ObserverStatus = z.enum(OBSERVER_STATUSES);
export type ObserverStatus = z.infer<typeof ObserverStatus>;

/** Statuses in which an observer takes (or is about to take) a worker. */
export const OCCUPYING_STATUSES = ["Created", "Processing", "Retrying", "Redistributing", "OnDeleting"] as const;

export const SERVICE_STATES = ["Alive", "Suspect", "Stopped", "Gone"] as const;

/** Alive · Suspect: silent, not proven dead · Stopped: it said ServiceDied · Gone: its control queue is gone (crash). */
export const ServiceState = z.enum(SERVICE_STATES);
export type ServiceState = z.infer<typeof ServiceState>;

/** Why one run (not the observer) is told to stop: see StopRuns. */
export const RUN_STOP_REASONS = ["superseded", "duplicate", "obsolete", "not-wanted", "unknown"] as const;

/** What a run that was told to stop says when its handler has settled: see RunStopped. */
export const RUN_STOPPED_REASONS = ["stopped", "restarted", ...RUN_STOP_REASONS] as const;

export const RUN_END_REASONS = [
  ...RUN_STOPPED_REASONS,
  "failed",
  "completed",
  "draining",
  "lease-lost",
  "service-stopped",
  "service-gone",
  "missing-from-inventory",
] as const;

/** Why a run ended, as `GET /observers/{id}/runs` shows it. */
export const RunEndReason = z.enum(RUN_END_REASONS);
export type RunEndReason = z.infer<typeof RunEndReason>;
