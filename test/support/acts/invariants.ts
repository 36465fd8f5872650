/**
 * What must always hold (docs: design, "What must always hold"), judged from the observers' own acts and not from what the
 * system says about itself. Pure: forged logs show in test/unit/invariants.test.ts that it can fail.
 */

/** A stamp that an observer made itself: at its start, every 20 ms of work, and as its signal aborted. */
export interface Act {
  observerId: string;
  runId: string;
  /** Of its service. */
  pid: number;
  /** The pid of the process that ran it. */
  slot?: number;
  kind: "start" | "act" | "stop";
  /** Of the type `admitted`: the fencing token of its run, and the param it was started with. */
  fencingToken?: number;
  word?: string;
  /** CLOCK_MONOTONIC of this machine, comparable between processes. */
  monotonicNs: bigint;
}

export interface Expectations {
  /** Observers that must be at work when the log ends. */
  running: Iterable<string>;
  /** Observers that are over, with the moment from which they must not act. */
  over: Map<string, bigint>;
  /** When the log was read. */
  nowNs: bigint;
  /** An observer is at work if it has acted within this time. Default 1 s. */
  freshMs?: number | undefined;
  /** How long two runs of one observer may act side by side. Default 0: never. */
  maxOverlapMs?: number;
  /** Services that were killed with -9, by pid: how long a run of theirs may act beside another. Default: as all others. */
  killed?: { pids: ReadonlySet<number>; maxOverlapMs: number };
  /**
   * How many acts a run may still make after a younger one of its observer has begun, whatever the time between: a process
   * that was frozen or blocked has timers that are due when it wakes, before it can look at a clock. Default 0.
   */
  maxLateActs?: number;
}

export interface Violation {
  invariant: "lost" | "doubled" | "overlap" | "resurrected" | "unknown";
  observerId: string;
  detail: string;
}

interface RunSpan {
  runId: string;
  pid: number;
  firstNs: bigint;
  lastNs: bigint;
  actsNs: bigint[];
}

export function findViolations(acts: Act[], expectations: Expectations): Violation[] {
  const { nowNs, over, freshMs = 1_000, maxOverlapMs = 0, maxLateActs = 0, killed } = expectations;
  const freshSinceNs = nowNs - BigInt(freshMs) * 1_000_000n;
  const spans = spansByObserver(acts);
  const running = new Set(expectations.running);
  const violations: Violation[] = [];
  for (const observerId of running) {
    const fresh = (spans.get(observerId) ?? []).filter((span) => span.lastNs >= freshSinceNs);
    if (fresh.length === 0)
      violations.push({ invariant: "lost", observerId, detail: lostDetail(spans.get(observerId), nowNs) });
  }
  for (const [observerId, runs] of spans) {
    if (!running.has(observerId) && !over.has(observerId))
      violations.push({ invariant: "unknown", observerId, detail: "it acts, and nobody expects it" });
    const overSinceNs = over.get(observerId);
    for (const run of runs) {
      if (overSinceNs !== undefined && run.lastNs > overSinceNs)
        violations.push({
          invariant: "resurrected",
          observerId,
          detail: `run ${run.runId} acted ${ms(run.lastNs - overSinceNs)} ms after its end`,
        });
    }
    violations.push(...overlaps(observerId, runs, { maxOverlapMs, maxLateActs, killed }, freshSinceNs));
  }
  return violations;
}

/** The longest time that two runs of one observer acted side by side, in ms; up to `maxLateActs` late acts do not count. */
export function longestOverlapMs(acts: Act[], maxLateActs = 0): number {
  let longest = 0;
  for (const runs of spansByObserver(acts).values())
    for (const [a, b] of pairs(runs)) longest = Math.max(longest, overlapMs(a, b, maxLateActs));
  return longest;
}

/** The most acts that a run made after a younger one of its observer had begun. */
export function mostLateActs(acts: Act[]): number {
  const counts = [...spansByObserver(acts).values()].flatMap((runs) => pairs(runs).map(([a, b]) => lateActs(a, b)));
  return counts.reduce((most, count) => Math.max(most, count), 0);
}

interface Limits {
  maxOverlapMs: number;
  maxLateActs: number;
  killed: Expectations["killed"];
}

function mostOverlapMs(a: RunSpan, b: RunSpan, { maxOverlapMs, killed }: Limits): number {
  const isOfKilled = killed !== undefined && (killed.pids.has(a.pid) || killed.pids.has(b.pid));
  return isOfKilled ? Math.max(maxOverlapMs, killed.maxOverlapMs) : maxOverlapMs;
}

function overlaps(observerId: string, runs: RunSpan[], limits: Limits, freshSinceNs: bigint): Violation[] {
  return pairs(runs).flatMap(([a, b]): Violation[] => {
    const late = lateActs(a, b);
    if (late <= limits.maxLateActs) return [];
    const forMs = ms(overlapNs(a, b));
    const mostMs = mostOverlapMs(a, b, limits);
    // Where none may be side by side, one that was over before it acted once more was no less: of its time nothing is known.
    if (mostMs > 0 && forMs <= mostMs) return [];
    const isStillSo = a.lastNs >= freshSinceNs && b.lastNs >= freshSinceNs;
    const detail = `runs ${a.runId} (pid ${a.pid}) and ${b.runId} (pid ${b.pid}) acted side by side for ${forMs} ms, ${late} acts of the older one`;
    return [{ invariant: isStillSo ? "doubled" : "overlap", observerId, detail }];
  });
}

function overlapMs(a: RunSpan, b: RunSpan, maxLateActs: number): number {
  return lateActs(a, b) <= maxLateActs ? 0 : ms(overlapNs(a, b));
}

function lateActs(a: RunSpan, b: RunSpan): number {
  const [older, younger] = a.firstNs <= b.firstNs ? [a, b] : [b, a];
  return older.actsNs.filter((atNs) => atNs > younger.firstNs).length;
}

function overlapNs(a: RunSpan, b: RunSpan): bigint {
  const from = a.firstNs > b.firstNs ? a.firstNs : b.firstNs;
  const to = a.lastNs < b.lastNs ? a.lastNs : b.lastNs;
  return to > from ? to - from : 0n;
}

function spansByObserver(acts: Act[]): Map<string, RunSpan[]> {
  const spans = new Map<string, Map<string, RunSpan>>();
  for (const { observerId, runId, pid, kind, monotonicNs } of acts) {
    const runs = spans.get(observerId) ?? new Map<string, RunSpan>();
    spans.set(observerId, runs);
    const span = runs.get(runId);
    if (!span) runs.set(runId, { runId, pid, firstNs: monotonicNs, lastNs: monotonicNs, actsNs: [monotonicNs] });
    else if (kind !== "stop") {
      span.lastNs = monotonicNs > span.lastNs ? monotonicNs : span.lastNs;
      span.actsNs.push(monotonicNs);
    }
  }
  return new Map([...spans].map(([observerId, runs]) => [observerId, [...runs.values()]]));
}

function lostDetail(runs: RunSpan[] | undefined, nowNs: bigint): string {
  const last = runs?.reduce((latest, run) => (run.lastNs > latest ? run.lastNs : latest), 0n);
  return last === undefined ? "it never acted" : `it acted last ${ms(nowNs - last)} ms ago`;
}

function pairs<T>(items: T[]): [T, T][] {
  return items.flatMap((a, i) => items.slice(i + 1).map((b): [T, T] => [a, b]));
}

const ms = (ns: bigint): number => Number(ns / 1_000n) / 1_000;
