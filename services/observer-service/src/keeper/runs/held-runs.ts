import type { ObserverId, RunId } from "@unacked/contracts";
import { hasHandler, type LiveRun } from "./live-run.ts";

const NONE: readonly LiveRun[] = [];

/**
 * Every run that this service holds, by observer. One observer never runs twice on one service: only the first of its runs
 * has its turn, and the others wait until that is over.
 */
export class HeldRuns {
  readonly #byObserver = new Map<ObserverId, LiveRun[]>();
  readonly #watchers = new Set<() => void>();
  #lookIsDue = false;

  /** How many observers have a run here. */
  get size(): number {
    return this.#byObserver.size;
  }

  /** True means that its turn has come. False means that it waits behind others of the same observer. */
  put(run: LiveRun): boolean {
    const runs = this.#byObserver.get(run.start.observerId);
    if (runs === undefined) this.#byObserver.set(run.start.observerId, [run]);
    else runs.push(run);
    return runs === undefined;
  }

  /** Removes a run that is over. Returns the run whose turn has come thereby. */
  remove(run: LiveRun): LiveRun | undefined {
    const { observerId } = run.start;
    const runs = this.#byObserver.get(observerId) ?? [];
    const place = runs.indexOf(run);
    if (place >= 0) runs.splice(place, 1);
    if (runs.length === 0) this.#byObserver.delete(observerId);
    return place === 0 ? runs[0] : undefined;
  }

  /**
   * A restart in place: the new run takes the old one's place, ahead of those that wait behind it. True means that it has
   * its turn.
   */
  replace(old: LiveRun, run: LiveRun): boolean {
    const runs = this.#byObserver.get(run.start.observerId) ?? [];
    const place = runs.indexOf(old);
    if (place >= 0) runs[place] = run;
    return place === 0;
  }

  find(observerId: ObserverId, runId: RunId): LiveRun | undefined {
    return this.ofObserver(observerId).find((run) => run.runId === runId);
  }

  /** A copy of an observer's runs, older ones first. */
  ofObserver(observerId: ObserverId): readonly LiveRun[] {
    const runs = this.#byObserver.get(observerId);
    return runs === undefined ? NONE : [...runs];
  }

  /** A copy of all runs, older ones of an observer before newer ones. */
  all(): LiveRun[] {
    return [...this.#byObserver.values()].flat();
  }

  /** The runs of this or an earlier generation whose handler still runs. */
  unsettled(generation = Number.POSITIVE_INFINITY): LiveRun[] {
    return this.all().filter((run) => hasHandler(run) && run.delivery.generation <= generation);
  }

  /** Resolves when `holds` is true. It is asked again after each `lookSoon`. */
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

  /** Looks once for all that settle in this turn of the event loop, as each look goes through every run. */
  lookSoon(): void {
    if (this.#lookIsDue || this.#watchers.size === 0) return;
    this.#lookIsDue = true;
    setImmediate(() => {
      this.#lookIsDue = false;
      for (const look of [...this.#watchers]) look();
    });
  }
}
