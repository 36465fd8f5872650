import { z } from "zod";
import { OBSERVER_STATUSES } from "./observer-status.ts";

/** The status of an observer: STATUS_TRAITS describes each. */
export const ObserverStatus = z.enum(OBSERVER_STATUSES);
export type ObserverStatus = z.infer<typeof ObserverStatus>;

/** The states of a service's process, which is one boot of it. */
const SERVICE_TRAITS = {
  Alive: { isLiving: true },
  /** Silent, not proven dead. */
  Suspect: { isLiving: true },
  /** It said ServiceDied. */
  Stopped: { isLiving: false },
  /** Its control queue is gone: a crash. */
  Gone: { isLiving: false },
} as const;

export type ServiceState = keyof typeof SERVICE_TRAITS;

const SERVICE_STATES = Object.keys(SERVICE_TRAITS) as [ServiceState, ...ServiceState[]];

/** Alive · Suspect: silent, not proven dead · Stopped: it said ServiceDied · Gone: its control queue is gone (crash). */
export const ServiceState = z.enum(SERVICE_STATES);

export const LIVING_SERVICE_STATES = SERVICE_STATES.filter((state) => SERVICE_TRAITS[state].isLiving);

export const isLivingService = (state: ServiceState): boolean => SERVICE_TRAITS[state].isLiving;

/** Why one run (not the observer) is told to stop: see StopRuns. */
export const RUN_STOP_REASONS = ["superseded", "duplicate", "obsolete", "not-wanted", "unknown", "taken-back"] as const;

/** What a run that was told to stop says when its handler has settled: see RunStopped. */
export const RUN_STOPPED_REASONS = [
  "stopped",
  "restarted",
  "superseded",
  "duplicate",
  "obsolete",
  "not-wanted",
  "unknown",
] as const;

export const RUN_END_REASONS = [
  ...RUN_STOPPED_REASONS,
  "failed",
  "completed",
  "draining",
  "moved",
  "type-gone",
  "lease-lost",
  "service-stopped",
  "service-gone",
  "missing-from-inventory",
] as const;

/** Why a run ended, as `GET /observers/{id}/runs` shows it. */
export const RunEndReason = z.enum(RUN_END_REASONS);
export type RunEndReason = z.infer<typeof RunEndReason>;
