import type { TaskId } from "@unacked/contracts";
import type { Log } from "../log.ts";
import { Loop, untilDue } from "../loop.ts";
import type { ScheduleTally } from "../tally.ts";
import type { UnwantedSend } from "../tasks/unwanted-send.ts";
import { decideDue, taskOf } from "./firing.ts";
import type { Fired, ScheduleDecision, ScheduleFiringStore, TaskScheduleState } from "./schedule-store.ts";

const AT_ONCE = 500;
/** This process thinks at most so long with the rows locked; what is left stays due. */
const THINK_MS = 100;
/** One transaction writes about so many rows. */
const MOST_OCCURRENCES = 5_000;
const BACKSTOP_MS = 1_000;
const LOCKED_PAUSE_MS = 100;
const FAILED_PAUSE_MS = 1_000;
/** How often it is looked whether what is queued may start: with each round of the backstop, which comes some ms earlier or later. */
const QUEUED_EVERY_MS = 900;
/** So soon after tasks have ended it looks, once for all that end meanwhile. */
const QUEUED_AFTER_END_MS = 200;

export interface ScheduleFirerParts {
  store: ScheduleFiringStore;
  /** Tasks were created. */
  wakeTasks(): void;
  /** Tasks were cancelled. */
  cancelled(over: TaskId[], refuse: UnwantedSend[]): void;
  tally: ScheduleTally;
  log: Log;
}

/**
 * Comes in: schedules that are due. Guarantees: a time of a schedule is one row, with its task if it has one, in the transaction that
 * also says when the schedule is due next; so each happens once, whoever decides. A crash leaves what was due due. Every crash:
 * docs/decisions/0016-schedules.md.
 */
export class ScheduleFirer {
  readonly #parts: ScheduleFirerParts;
  readonly #loop = new Loop({ round: () => this.#round(), failed: (error) => this.#failed(error) });
  #queuedAtMs = Number.NEGATIVE_INFINITY;
  #isAnyQueued = false;
  #afterEnd: NodeJS.Timeout | undefined;
  /** When the next one is due, by `performance.now()`, as far as was seen; infinity: it is to be looked again. */
  #dueAtMs = Number.POSITIVE_INFINITY;

  constructor(parts: ScheduleFirerParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#loop.start();
  }

  /** Something may be due earlier. */
  wake(): void {
    this.#loop.wake();
  }

  /** What is queued behind one of these may start. */
  tasksEnded(): void {
    if (!this.#isAnyQueued) return;
    this.#afterEnd ??= setTimeout(() => {
      this.#afterEnd = undefined;
      this.#queuedAtMs = Number.NEGATIVE_INFINITY;
      this.#loop.wake();
    }, QUEUED_AFTER_END_MS);
  }

  stop(): Promise<void> {
    clearTimeout(this.#afterEnd);
    return this.#loop.end();
  }

  async #round(): Promise<number> {
    const { store } = this.#parts;
    this.#loop.takeWake();
    const beganMs = performance.now();
    const wasSeen = beganMs >= this.#dueAtMs;
    const { dueInMs, isAnyQueued } = wasSeen ? { dueInMs: 0, isAnyQueued: this.#isAnyQueued } : await store.ahead();
    this.#isAnyQueued = isAnyQueued;
    const isDue = dueInMs !== null && dueInMs <= 0;
    this.#dueAtMs = isDue || dueInMs === null ? Number.POSITIVE_INFINITY : performance.now() + dueInMs;
    let claimed = 0;
    if (isDue) {
      const fired = await store.fire(AT_ONCE, decideAll);
      this.#told(fired);
      claimed = fired.claimed;
    }
    if (isAnyQueued && beganMs >= this.#queuedAtMs) {
      this.#queuedAtMs = beganMs + QUEUED_EVERY_MS;
      const queued = await store.startQueued(AT_ONCE, taskOf);
      this.#told(queued);
      if (queued.claimed === AT_ONCE) this.#queuedAtMs = Number.NEGATIVE_INFINITY;
    }
    if (!isDue) return untilDue(dueInMs, BACKSTOP_MS);
    // A schedule that is due and was not to be had is another manager's at this moment.
    return claimed > 0 ? 0 : LOCKED_PAUSE_MS;
  }

  #told({ occurrences, created, cancelled: count, over, refuse, putOff, problems }: Fired): void {
    const { tally, wakeTasks, cancelled, log } = this.#parts;
    for (const { id, error } of putOff)
      log.warn({ err: error, schedule: id }, "a schedule could not be evaluated, and is postponed");
    for (const { id, problem } of problems)
      log.warn({ schedule: id, problem }, "a schedule cannot be read here; it is tried again each minute");
    for (const one of occurrences) tally.decided(one.status, one.isByTime ? one.lateMs : undefined);
    if (created > 0) wakeTasks();
    if (count > 0) cancelled(over, refuse);
  }

  #failed(error: unknown): number {
    this.#parts.log.warn({ err: error }, "what is due by a schedule could not be started, trying again");
    this.#loop.takeWake(); // what wakes it does not shorten the pause
    return FAILED_PAUSE_MS;
  }
}

/** Decides about the first of them, as many as there is time for. */
function decideAll(states: TaskScheduleState[], nowMs: number): ScheduleDecision[] {
  const untilMs = performance.now() + THINK_MS;
  const decisions: ScheduleDecision[] = [];
  let rows = 0;
  for (const state of states) {
    if (decisions.length > 0 && (performance.now() > untilMs || rows > MOST_OCCURRENCES)) break;
    const decision = decideDue(state, nowMs);
    rows += decision.occurrences.length;
    decisions.push(decision);
  }
  return decisions;
}
