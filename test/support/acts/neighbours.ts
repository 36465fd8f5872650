import type { Act } from "./invariants.ts";

/** The time in which something was in a slot that it might harm. */
export interface Stay {
  readonly slot: number;
  readonly fromNs: bigint;
  readonly toNs: bigint;
}

export interface Death {
  readonly slot: number;
  readonly atNs: bigint;
}

/** What the neighbours of a poison have missed, by their own acts, in ms. */
export interface Missed {
  /** In other slots: the longest without an act, less their pace and what a bare process missed in that moment. */
  readonly elsewhereMs: number;
  /** After a death of their slot, until they acted again. */
  readonly backMs: number;
  /** How often they did. */
  readonly timesBack: number;
  /** In the poison's slot, as long as that lived: the longest without an act. */
  readonly besideMs: number;
}

export interface Surroundings {
  readonly stays: readonly Stay[];
  readonly deaths: readonly Death[];
  /** How often they act. */
  readonly everyMs: number;
  /** What the machine took from everybody between these moments. */
  missedMs(fromNs: bigint, toNs: bigint): number;
}

/** @param acts of the neighbours, with the slot of each */
export function missedBy(acts: readonly Act[], { stays, deaths, everyMs, missedMs }: Surroundings): Missed {
  const missed = { elsewhereMs: 0, backMs: 0, timesBack: 0, besideMs: 0 };
  for (const [before, next] of neighbouring(acts)) {
    const [fromNs, toNs] = [before.monotonicNs, next.monotonicNs];
    const gapMs = Number(toNs - fromNs) / 1e6 - everyMs;
    const isBeside = stays.some((stay) => stay.slot === before.slot && stay.fromNs <= toNs && stay.toNs >= fromNs);
    if (!isBeside) {
      if (gapMs > missed.elsewhereMs) missed.elsewhereMs = Math.max(missed.elsewhereMs, gapMs - missedMs(fromNs, toNs));
      continue;
    }
    const death = next.slot === before.slot ? undefined : deaths.find(({ slot }) => slot === before.slot);
    if (death === undefined) missed.besideMs = Math.max(missed.besideMs, gapMs);
    else {
      missed.timesBack += 1;
      missed.backMs = Math.max(missed.backMs, Number(toNs - death.atNs) / 1e6 - missedMs(death.atNs, toNs));
    }
  }
  return missed;
}

/** Each act and the next one of the same observer. */
function* neighbouring(acts: readonly Act[]): Generator<[Act, Act]> {
  const last = new Map<string, Act>();
  for (const act of acts.toSorted((a, b) => (a.monotonicNs < b.monotonicNs ? -1 : 1))) {
    if (act.kind === "stop") continue;
    const before = last.get(act.observerId);
    if (before !== undefined) yield [before, act];
    last.set(act.observerId, act);
  }
}
