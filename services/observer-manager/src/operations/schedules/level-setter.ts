import type { ObserverId, ScheduledObservers, Wanted } from "@unacked/contracts";
import { type Level, levelNow } from "../../domain/schedules/level.ts";
import { newAction } from "../access/audit.ts";
import type { Log } from "../log.ts";
import { Loop, untilDue } from "../loop.ts";
import { changeSome } from "../observers/bulk.ts";
import type { ScheduleTally } from "../tally.ts";
import type { LevelStore, LevelTransaction } from "./level-store.ts";
import { scheduleActor } from "./schedule-actor.ts";
import type { NewOccurrence, ScheduleDecision, ScheduleState } from "./schedule-store.ts";

/** Rows locked by one transaction: services' own events about them wait so long. */
const AT_ONCE = 1_000;
/** It takes at most so long until an observer is noticed that is new, or that matches from now on. */
const LOOK_EVERY_MS = 30_000;
const BACKSTOP_MS = 1_000;
const LOCKED_PAUSE_MS = 100;
const FAILED_PAUSE_MS = 1_000;
/** While not all managers know what is wanted, it is asked again after so long. */
const NOT_YET_PAUSE_MS = 1_000;

export interface LevelSetterParts {
  store: LevelStore;
  /** Whether observers may be changed so just now: not all managers may know what Paused is. */
  mayWant(wanted: Wanted): boolean;
  /** Told after a commit that wrote commands. */
  committed(): void;
  tally: ScheduleTally;
  log: Log;
}

/**
 * Comes in: schedules that want observers running, or paused, in certain hours. Guarantees: what is wanted is what the clock says now, not
 * what was missed; each observer is brought to it once a change, in one transaction with the note of that, so that what a person does
 * after it holds until the next change. A crash leaves the rest for the next look, here or elsewhere.
 */
export class LevelSetter {
  readonly #parts: LevelSetterParts;
  readonly #loop = new Loop({ round: () => this.#round(), failed: (error) => this.#failed(error) });

  constructor(parts: LevelSetterParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#loop.start();
  }

  /** One was changed. */
  wake(): void {
    this.#loop.wake();
  }

  stop(): Promise<void> {
    return this.#loop.end();
  }

  async #round(): Promise<number> {
    const { store } = this.#parts;
    this.#loop.takeWake();
    const lookInMs = await store.nextLookInMs();
    if (lookInMs === null || lookInMs > 0) return untilDue(lookInMs, BACKSTOP_MS);
    let changed = 0;
    const wasDue = await store.look(async (state, nowMs, tx) => {
      changed = await this.#bring(state, nowMs, tx);
    });
    if (changed > 0) this.#parts.committed();
    // A schedule that is due and was not to be had is another manager's at this moment.
    return wasDue ? 0 : LOCKED_PAUSE_MS;
  }

  async #bring(state: ScheduleState, nowMs: number, tx: LevelTransaction): Promise<number> {
    const { definition, wanted, changeMs, nextMs } = state;
    if (definition.kind !== "observers") return 0;
    const level = levelNow(definition.hours, { wanted, sinceMs: changeMs, nextMs }, nowMs);
    const mayWant = this.#parts.mayWant(level.wanted);
    const ids = mayWant ? await tx.notBrought(definition.observers, level.sinceMs, AT_ONCE) : [];
    const againMs = !mayWant ? NOT_YET_PAUSE_MS : ids.length === AT_ONCE ? 0 : LOOK_EVERY_MS;
    const decided = await tx.write(level, decisionOf(state, level, nowMs, againMs));
    for (const { status } of decided.occurrences) this.#parts.tally.decided(status, undefined);
    if (ids.length === 0) return 0;
    const { asked, changed } = await change(tx, { id: state.id, level, ids, observers: definition.observers });
    await tx.brought(asked, level.sinceMs);
    if (changed > 0) await tx.count(level.sinceMs, changed);
    return changed;
  }

  #failed(error: unknown): number {
    this.#parts.log.warn({ err: error }, "observers could not be run or paused as their schedules want, trying again");
    this.#loop.takeWake();
    return FAILED_PAUSE_MS;
  }
}

/**
 * Observers that are over, or about to be, are left alone: they are asked once, like the others. One that is resumed and finds no worker
 * waits for one.
 * @returns who matched still, and how many of them were not so already
 */
async function change(
  tx: LevelTransaction,
  { id, level, ids, observers }: { id: string; level: Level; ids: ObserverId[]; observers: ScheduledObservers },
): Promise<{ asked: ObserverId[]; changed: number }> {
  const kind = level.wanted === "running" ? "resume" : "pause";
  const { accepted, refused, changed } = await changeSome(tx.books, {
    ids,
    filter: observers.filter ?? {},
    change: { kind, force: false, whenFull: "queue", dryRun: false },
    action: newAction(`observer.${kind}`, scheduleActor(id)),
  });
  return { asked: [...accepted, ...refused.map(({ id: observer }) => observer)], changed };
}

function decisionOf({ id, version }: ScheduleState, level: Level, nowMs: number, againMs: number): ScheduleDecision {
  const { passed, sinceMs, wanted, nextMs = null, isNew, isOnTime } = level;
  const missed = passed.map(
    ({ atMs, wanted: then }): NewOccurrence => ({
      atMs,
      status: "missed",
      cause: "time",
      reason: "catch-up-latest",
      wanted: then,
      lateMs: nowMs - atMs,
    }),
  );
  const cause = isOnTime ? "time" : "catch-up";
  const change: NewOccurrence = { atMs: sinceMs, status: "started", cause, wanted, lateMs: nowMs - sinceMs };
  return {
    id,
    version,
    occurrences: isNew ? [...missed, change] : [],
    cancel: [],
    plan: { nextMs, dueMs: Math.min(nowMs + againMs, nextMs ?? Number.POSITIVE_INFINITY), lastMs: null },
    missed: missed.length,
    problem: null,
  };
}
