/** What runs under a lease, as its keeper needs it. */
export interface FencedRuns {
  /** Aborts every run with `lease-lost`. */
  fence(): void;
  /** The names of observers whose handler still runs although its generation, or an earlier one, is fenced. */
  unsettled(generation: number): string[];
  /** Resolves when `unsettled` is empty. */
  settled(generation: number): Promise<void>;
  /** Surely ends the handlers that `unsettled` names. False means that only the end of this process does. */
  endForCertain(generation: number): boolean;
  /**
   * Until when they may go on, in ms of `performance.now()`, and what a handler has after that. Undefined means that nothing
   * runs. Handlers in processes of their own keep to it by themselves, even while this process is frozen.
   */
  heldUntil(deadlineMs: number | undefined, graceMs: number): void;
}

/** Observers and tasks share one lease, as it is the connection's. */
export const fencedTogether = (runs: FencedRuns, tasks: Omit<FencedRuns, "heldUntil">): FencedRuns => ({
  fence() {
    runs.fence();
    tasks.fence();
  },
  unsettled: (generation) => [...runs.unsettled(generation), ...tasks.unsettled(generation)],
  async settled(generation) {
    await Promise.all([runs.settled(generation), tasks.settled(generation)]);
  },
  endForCertain(generation) {
    const ends = [runs, tasks].filter((each) => each.unsettled(generation).length > 0);
    return ends.map((each) => each.endForCertain(generation)).every(Boolean);
  },
  heldUntil: (deadlineMs, graceMs) => runs.heldUntil(deadlineMs, graceMs),
});
