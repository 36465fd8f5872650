import type { Wanted } from "@unacked/contracts";
import { ON_TIME_MS } from "./due.ts";
import { changesAfter, type Hours, nextChange, wantedAt } from "./hours.ts";

/** What a schedule wants of its observers, and since when. */
export interface Level {
  wanted: Wanted;
  sinceMs: number;
  /** When it changes next; undefined: it does not. */
  nextMs: number | undefined;
  /** Changes that came while no manager was there, but for the last: whatever they wanted is over. */
  passed: { atMs: number; wanted: Wanted }[];
  /** It is another level than before: what people did to the observers until then holds no longer. */
  isNew: boolean;
  isOnTime: boolean;
}

/** At most so many changes that no manager was there for are told. */
const MAX_PASSED = 100;

/** A clock that is set back further was wrong before. By less it is put right: what was decided a moment ago stays. */
const SET_BACK_MS = ON_TIME_MS;

/** What the books say; null: nothing was wanted yet. */
interface Before {
  wanted: Wanted | null;
  sinceMs: number | null;
  nextMs: number | null;
}

/** What is wanted now. Where the clock was ahead, what it said then holds no longer: the schedule counts as new. */
export function levelNow(hours: Hours, before: Before, nowMs: number): Level {
  if (before.sinceMs !== null && nowMs < before.sinceMs - SET_BACK_MS)
    return levelNow(hours, { wanted: null, sinceMs: null, nextMs: null }, nowMs);
  const { changes, next } = changesUntil(hours, before, nowMs);
  const last = changes.pop();
  // A schedule that is new, or was changed or resumed, wants it from now on.
  const sinceMs = before.sinceMs === null ? nowMs : (last ?? before.sinceMs);
  const passed = before.sinceMs === null ? [] : changes.map((atMs) => ({ atMs, wanted: wantedAt(hours, atMs) }));
  return {
    wanted: wantedAt(hours, Math.max(nowMs, sinceMs)),
    sinceMs,
    nextMs: next,
    passed,
    isNew: before.sinceMs === null || last !== undefined,
    isOnTime: nowMs - sinceMs <= ON_TIME_MS,
  };
}

/**
 * The newest changes from the planned one until now, and what comes next. Where other rules of its zone hold since, nothing may change at
 * the planned one.
 */
function changesUntil(hours: Hours, { wanted, nextMs }: Before, nowMs: number) {
  const firstMs = nextMs ?? nextChange(hours, nowMs);
  if (firstMs === undefined || firstMs > nowMs) return { changes: [], next: firstMs };
  const changes = wantedAt(hours, firstMs) === wanted ? [] : [firstMs];
  for (const { atMs } of changesAfter(hours, firstMs)) {
    if (atMs > nowMs) return { changes, next: atMs };
    changes.push(atMs);
    if (changes.length > MAX_PASSED) changes.shift();
  }
  return { changes, next: undefined };
}
