import type { ObserverId, RunId } from "@unacked/contracts";
import { hasHandler, type LiveRun } from "./live-run.ts";

const NONE: readonly LiveRun[] = [];

/**
 * Every run that this service has a hand in, by observer. One observer never runs twice on one service: that holds here,
 * since only the first of an observer's runs has its turn, and the others wait until it is over.
 */
export class HeldRuns {
  readonly #byObserver = new Map<ObserverId, LiveRun[]>();
  readonly #watchers = new Set<() => void>();
  #lookIsDue = false;

  /** How many observers have a run here. */
  get size(): number {
    return this.#byObserver.size;
  }

  /** True: its turn has come. False: it waits behind others of the same observer. */
  put(run: LiveRun): boolean {
    const runs = this.#byObserver.get(run.start.observerId);
    if (runs === undefined) this.#byObserver.set(run.start.observerId, [run]);
    else runs.push(run);
    return runs === undefined;
  }

  /** Takes a run out that is over; returns the run whose turn has come by that. */
  remove(run: LiveRun): LiveRun | undefined {
    const { observerId } = run.start;
    const runs = this.#byObserver.get(observerId) ?? [];
    const place = runs.indexOf(run);
    if (place >= 0) runs.splice(place, 1);
    if (runs.length === 0) this.#byObserver.delete(observerId);
    return place === 0 ? runs[0] : undefined;
  }

  /** A restart in place: the new run has the old one's place, ahead of whatever waits behind it. True: and its turn. */
  replace(old: LiveRun, run: LiveRun): boolean {
    const runs = this.#byObserver.get(run.start.observerId) ?? [];
    const place = runs.indexOf(old);
    if (place >= 0) runs[place] = run;
    return place === 0;
  }

  find(observerId: ObserverId, runId: RunId): LiveRun | undefined {
    return this.ofObserver(observerId).find((run) => run.runId === runId);
  }

  /** A copy, older runs first. */
  ofObserver(observerId: ObserverId): readonly LiveRun[] {
    const runs = this.#byObserver.get(observerId);
    return runs === undefined ? NONE : [...runs];
  }

  /** A copy, older runs of an observer before newer ones. */
  all(): LiveRun[] {
    return [...this.#byObserver.values()].flat();
  }

  /** Those of this or an earlier generation whose handler still runs. */
  unsettled(generation = Number.POSITIVE_INFINITY): LiveRun[] {
    return this.all().filter((run) => hasHandler(run) && run.delivery.generation <= generation);
  }

  /** Resolves when it holds; it is asked again after each `lookSoon`. */
  until(holds: () => boolean): Promise<void> {
    if (holds()) return Promise.resolve();
    return new Promise((resolve) => {
      const look = () => {
        if (!holds()) return;
        this.#watchers.delete(look);
        resolve();
      };
      this.#watchers.add(look);
    });
  }

  /** Once for all that settle in this turn of the event loop: each look goes through every run. */
  lookSoon(): void {
    if (this.#lookIsDue || this.#watchers.size === 0) return;
    this.#lookIsDue = true;
    setImmediate(() => {
      this.#lookIsDue = false;
      for (const look of [...this.#watchers]) look();
    });
  }
}
