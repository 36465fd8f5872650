import type { BulkResults, ObserverView, ServiceView } from "@unacked/contracts";
import type { Deed } from "../store/statuses.ts";
import { call } from "./call.ts";

/** What became of one deed on many. */
export interface DeedReport {
  accepted: number;
  /** By what the manager said against them; the first few names of each. */
  refused: Map<string, { count: number; remedy: string; names: string[] }>;
}

const AT_ONCE = 1_000;
const NAMED = 3;

/**
 * Stops or restarts observers, a thousand a call. Rejects with CallError when a call fails as a whole; what was accepted before
 * stays so, and shows in the list.
 */
export async function doToMany(deed: Deed, ids: readonly string[], nameOf: (id: string) => string): Promise<DeedReport> {
  const report: DeedReport = { accepted: 0, refused: new Map() };
  for (let from = 0; from < ids.length; from += AT_ONCE) {
    const some = ids.slice(from, from + AT_ONCE);
    const path = deed === "restart" ? "/observers/restart" : "/observers/stop";
    const body = { ids: some, ...(deed === "force-stop" && { force: true }) };
    const { results } = await call<BulkResults>("POST", path, { body });
    for (const result of results) {
      if (!("problem" in result)) report.accepted += 1;
      else note(report, result.problem, nameOf(result.ref));
    }
  }
  return report;
}

function note({ refused }: DeedReport, { title, remedy }: { title: string; remedy: string }, name: string): void {
  const known = refused.get(title) ?? { count: 0, remedy, names: [] };
  const names = known.names.length < NAMED ? [...known.names, name] : known.names;
  refused.set(title, { count: known.count + 1, remedy, names });
}

/** Resolves to the observer as it is now. Rejects with CallError. */
export function doToOne(deed: Deed, id: string): Promise<ObserverView> {
  switch (deed) {
    case "stop":
      return call("DELETE", `/observers/${id}`);
    case "force-stop":
      return call("DELETE", `/observers/${id}?force=true`);
    case "restart":
      return call("POST", `/observers/${id}/restart`);
    default:
      return deed satisfies never;
  }
}

/** Resolves when the order stands; the service follows it a little later. Rejects with CallError. */
export const drainService = (id: string): Promise<ServiceView> => call("POST", `/services/${encodeURIComponent(id)}/drain`);
