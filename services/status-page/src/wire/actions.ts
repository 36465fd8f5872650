import {
  type BalanceView,
  type BulkCount,
  type BulkResults,
  type CheckpointView,
  checkpointTag,
  type ObserverId,
  type ObserverView,
  type ServiceView,
} from "@unacked/contracts";
import type { Action } from "../store/statuses.ts";
import { CallError, call } from "./call.ts";

/** What became of one action on many. */
export interface ActionReport {
  accepted: number;
  /** By what the manager said against them; the first few names of each. */
  refused: Map<string, { count: number; remedy: string; names: string[] }>;
  /** A call failed as a whole: of so many, those of that call and all after it, nobody has said what became of them. */
  open?: { count: number; failure: CallError };
}

const AT_ONCE = 1_000;
const NAMED = 3;

/**
 * Stops, restarts, pauses or resumes observers, a thousand a call. Rejects with CallError when the first call fails as a whole; a later one
 * leaves the others open, as what was accepted before stays so.
 */
export async function doToMany(
  action: Action,
  ids: readonly string[],
  nameOf: (id: string) => string,
): Promise<ActionReport> {
  const report: ActionReport = { accepted: 0, refused: new Map() };
  for (let from = 0; from < ids.length; from += AT_ONCE) {
    const some = ids.slice(from, from + AT_ONCE);
    const body = { ids: some as ObserverId[] };
    const answer = await sendMany(action, body).catch((error: unknown) => laterFailure(error, from));
    if (answer instanceof CallError) {
      report.open = { count: ids.length - from, failure: answer };
      break;
    }
    if (!("results" in answer)) throw new Error("the manager counted what was named");
    const { results } = answer;
    for (const result of results) {
      if (!("problem" in result)) report.accepted += 1;
      else note(report, result.problem, nameOf(result.ref));
    }
  }
  return report;
}

function laterFailure(error: unknown, from: number): CallError {
  if (from > 0 && error instanceof CallError) return error;
  throw error;
}

function sendMany(action: Action, body: { ids: ObserverId[] }): Promise<BulkResults | BulkCount> {
  switch (action) {
    case "stop":
    case "force-stop":
      return call("stopObservers", { body: { ...body, force: action === "force-stop" } });
    case "restart":
      return call("restartObservers", { body });
    case "pause":
      return call("pauseObservers", { body });
    case "resume":
      return call("resumeObservers", { body });
    default:
      return action satisfies never;
  }
}

function note({ refused }: ActionReport, { title, remedy }: { title: string; remedy: string }, name: string): void {
  const known = refused.get(title) ?? { count: 0, remedy, names: [] };
  const names = known.names.length < NAMED ? [...known.names, name] : known.names;
  refused.set(title, { count: known.count + 1, remedy, names });
}

/** Resolves to the observer as it is now. Rejects with CallError. */
export function doToOne(action: Action, id: string): Promise<ObserverView> {
  switch (action) {
    case "stop":
      return call("deleteObserver", { path: { ref: id } });
    case "force-stop":
      return call("deleteObserver", { path: { ref: id }, query: { force: true } });
    case "restart":
      return call("restartObserver", { path: { ref: id } });
    case "pause":
      return call("pauseObserver", { path: { ref: id } });
    case "resume":
      return call("resumeObserver", { path: { ref: id } });
    default:
      return action satisfies never;
  }
}

/** Its next run starts without one, if it still is that which was seen. Rejects with CallError. */
export const resetCheckpoint = (id: string, seen: CheckpointView): Promise<CheckpointView> =>
  call("resetCheckpoint", { path: { ref: id }, ifMatch: checkpointTag(seen) });

/** Resolves when the order stands; the service follows it a little later. Rejects with CallError. */
export const cordonService = (id: string): Promise<ServiceView> => call("cordonService", { path: { service: id } });

/** Takes back a cordon, or a drain. */
export const uncordonService = (id: string): Promise<ServiceView> => call("uncordonService", { path: { service: id } });

export const rebalance = (pool: string): Promise<BalanceView> =>
  call("rebalance", { path: { pool }, body: { dryRun: false } });

export const cancelRebalance = (pool: string): Promise<BalanceView> => call("cancelRebalance", { path: { pool } });

export const drainService = (id: string): Promise<ServiceView> => call("drainService", { path: { service: id } });
