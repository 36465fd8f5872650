import type { Act } from "./invariants.ts";

/** The times in ms during which an observer did not act, between one of its runs and the next, for each change of runs. */
export function gapsMs(acts: Act[]): Map<string, number[]> {
  const runsOf = new Map<string, Map<string, { firstNs: bigint; lastNs: bigint }>>();
  for (const { observerId, runId, kind, monotonicNs } of acts) {
    if (kind === "stop") continue; // work that ended with the last act
    const runs = runsOf.get(observerId) ?? new Map();
    runsOf.set(observerId, runs);
    const run = runs.get(runId) ?? { firstNs: monotonicNs, lastNs: monotonicNs };
    runs.set(runId, { firstNs: run.firstNs, lastNs: monotonicNs > run.lastNs ? monotonicNs : run.lastNs });
  }
  return new Map([...runsOf].map(([observerId, runs]) => [observerId, between([...runs.values()])]));
}

function between(runs: { firstNs: bigint; lastNs: bigint }[]): number[] {
  const inOrder = runs.toSorted((a, b) => (a.firstNs < b.firstNs ? -1 : 1));
  return inOrder.slice(1).map((run, i) => Number(run.firstNs - (inOrder[i]?.lastNs ?? run.firstNs)) / 1e6);
}

export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** In whole ms; `share` 1: the longest. */
export function percentile(values: number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN);
}
