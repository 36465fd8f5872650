import type { ObserverChanged, ObserverView, ProblemDetails, RunView } from "@unacked/contracts";
import { expect } from "vitest";
import type { Act } from "../acts/invariants.ts";
import { eventually } from "../eventually.ts";
import { callHttp } from "../rest/rest-client.ts";
import type { Answer, System } from "./system.ts";

export type Changed = ObserverChanged & Pick<ProblemDetails, "code" | "errors" | "specVersion" | "differs" | "detail">;

export interface ChangeOptions {
  ifMatch?: string;
  query?: string;
  url?: string;
}

/** A PATCH of an observer. */
export async function change(
  system: System,
  ref: string,
  body: object,
  options: ChangeOptions = {},
): Promise<Answer<Changed>> {
  const { ifMatch, query = "", url = system.url } = options;
  const headers: Record<string, string> = ifMatch === undefined ? {} : { "if-match": ifMatch };
  const place = `${url}/api/v1/observers/${ref}${query}`;
  const answer = await callHttp(place, "PATCH", { json: body, headers, signal: AbortSignal.timeout(60_000) });
  return { status: answer.status, headers: answer.headers, body: answer.body as Changed };
}

/** A manager believes that all can change observers once it has watched them for some seconds. */
export async function untilItMayChange(system: System, url = system.url): Promise<void> {
  await eventually(async () => expect((await change(system, "nobody", {}, { url })).status).toBe(404), {
    what: "that changes are taken",
    timeoutMs: 40_000,
  });
}

/** The params of a stamping observer with this mark. */
export const marked = (system: System, mark: string, more: object = {}): object => ({
  file: system.actsFile,
  mark,
  ...more,
});

/** Marks with which this observer was started, in order. */
export const marksOf = (system: System, id: string): (string | undefined)[] =>
  system.acts().flatMap((act) => (act.observerId === id && act.kind === "start" ? [markOf(act)] : []));

const markOf = (act: Act): string | undefined => (act as Act & { mark?: string }).mark;

/** Of each observer that which it acted by last; one look through all acts, as there may be many. */
export function lastMarks(system: System): Map<string, string | undefined> {
  const last = new Map<string, string | undefined>();
  // One that starts at once stamps it as it starts alone.
  for (const act of system.acts()) if (markOf(act) !== undefined) last.set(act.observerId, markOf(act));
  return last;
}

/** In how many runs each of these acted by these marks. */
export function runsByMark(system: System, ids: readonly string[], marks: readonly string[]): number[] {
  const runs = new Map(ids.map((id) => [id, new Set<string>()]));
  for (const act of system.acts()) if (marks.includes(markOf(act) ?? "")) runs.get(act.observerId)?.add(act.runId);
  return [...runs.values()].map(({ size }) => size);
}

/** Until each runs as it is wanted, and nothing is under way. */
export async function untilAsWanted(system: System, ids: readonly string[], timeoutMs = 90_000): Promise<ObserverView[]> {
  return eventually(
    async () => {
      const all = await system.observers([...ids]);
      const behind = all.filter((one) => !isAsWanted(one)).map(told);
      expect(behind.slice(0, 5), `${behind.length} of ${ids.length} are not as they are wanted`).toEqual([]);
      return all;
    },
    { timeoutMs, what: "that all run as they are wanted" },
  );
}

const isAsWanted = ({ status, pending, specVersion, observedSpecVersion }: ObserverView): boolean =>
  status === "Processing" && pending === null && specVersion === observedSpecVersion;

const told = ({ name, status, pending, specVersion, observedSpecVersion: observed }: ObserverView): string =>
  `${name} ${status} ${pending} ${observed}/${specVersion}`;

export const runsOf = async (system: System, id: string): Promise<RunView[]> =>
  (await system.call<{ items: RunView[] }>("GET", `/api/v1/observers/${id}/runs`)).body.items;

/** Between the last word of one run and the first of the next, in ms: by the acts of the handlers alone. */
export function gapsMs(system: System, ids: readonly string[]): number[] {
  return ids.map((id) => {
    const acts = system.acts().filter(({ observerId }) => observerId === id);
    const start = acts.findLastIndex(({ kind }) => kind === "start");
    const [before, after] = [acts[start - 1], acts[start]];
    if (before === undefined || after === undefined) throw new Error(`${id} did not start twice`);
    return Number(after.monotonicNs - before.monotonicNs) / 1e6;
  });
}

/** Between the last act by what was wanted before and the first by this mark, in ms. */
export function updateGapsMs(system: System, ids: readonly string[], mark: string): number[] {
  const acts = system.acts();
  return ids.map((id) => {
    const own = acts.filter(({ observerId, kind }) => observerId === id && kind !== "stop");
    const first = own.findIndex((act) => markOf(act) === mark);
    const [before, after] = [own[first - 1], own[first]];
    if (before === undefined || after === undefined) throw new Error(`${id} has not acted by ${mark}`);
    return Number(after.monotonicNs - before.monotonicNs) / 1e6;
  });
}

export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}
