import type { TaskRun } from "./task-run.ts";

/**
 * A lane is made to last at most 1.2 s, by the mean of its type (the manager's window.ts). A task that waits for longer than this is behind
 * one that takes more.
 */
const PATIENCE_MS = 2_000;
/** How many wait behind the running one in its slot: with them, short tasks need not wait until their predecessor's end is heard of. */
const AHEAD = 16;

export interface LaneSteps {
  begin(run: TaskRun): void;
  /** @returns whether it begins by itself when the other one, which is under way, has settled */
  beginBehind(run: TaskRun, other: TaskRun): boolean;
  /** The run has begun, as the one before it has settled. */
  begun(run: TaskRun): void;
}

/**
 * Tasks of one type that came together and run one after the other, with one worker: a limit bounds how many of the type run at once,
 * and the whole lane counts as one. Guarantees: a run begins when the one before it has ended; none begins here while one that was put
 * behind another may run.
 */
export class TaskLane {
  readonly #runs: TaskRun[];
  readonly #steps: LaneSteps;
  /** The running one, and those put behind it, in their order. */
  readonly #underWay = new Set<TaskRun>();
  #hasWorker = false;
  #patience: NodeJS.Timeout | undefined;
  /** Undefined while they have not waited too long. */
  #giveUp: ((run: TaskRun) => void) | undefined;

  constructor(runs: readonly TaskRun[], steps: LaneSteps) {
    this.#runs = [...runs];
    this.#steps = steps;
  }

  /** A copy of the runs that have not ended, in their order. */
  get left(): TaskRun[] {
    return [...this.#runs];
  }

  /** It has its worker. @param giveUp one that has waited too long */
  begin(giveUp: (run: TaskRun) => void): void {
    this.#hasWorker = true;
    this.#patience = setTimeout(() => {
      this.#giveUp = giveUp;
      for (const run of this.#runs.slice(1).reverse())
        if (this.#underWay.has(run)) run.attempt?.recall?.();
        else giveUp(run);
    }, PATIENCE_MS);
    this.#goOn();
  }

  /** The same task begins again. */
  replace(run: TaskRun, next: TaskRun): void {
    this.#runs[this.#runs.indexOf(run)] = next;
    this.#settled(run);
    this.#waits(next);
  }

  /** The run was put behind another, and has not begun there. */
  notBegun(run: TaskRun): void {
    this.#settled(run);
    this.#waits(run);
  }

  /** The run has ended, or waits no more. @returns whether that was the last */
  leave(run: TaskRun): boolean {
    this.#runs.splice(this.#runs.indexOf(run), 1);
    if (this.#runs.length === 0) {
      clearTimeout(this.#patience);
      return true;
    }
    this.#settled(run);
    this.#goOn();
    return false;
  }

  #waits(run: TaskRun): void {
    if (this.#giveUp !== undefined && run !== this.#runs[0]) this.#giveUp(run);
    else this.#goOn();
  }

  #settled(run: TaskRun): void {
    const [first] = this.#underWay;
    this.#underWay.delete(run);
    const [next] = this.#underWay;
    if (first === run && next !== undefined) this.#steps.begun(next);
  }

  #goOn(): void {
    const [first] = this.#runs;
    if (!this.#hasWorker || first === undefined) return;
    if (this.#underWay.size === 0) {
      this.#underWay.add(first);
      this.#steps.begin(first);
    }
    this.#putBehind();
  }

  /** Only if those under way are the first of the lane: otherwise another one would overtake. */
  #putBehind(): void {
    while (this.#giveUp === undefined && this.#underWay.size <= AHEAD) {
      const last = this.#runs[this.#underWay.size - 1];
      const next = this.#runs[this.#underWay.size];
      if (last === undefined || next === undefined || last !== [...this.#underWay].at(-1)) return;
      if (!this.#steps.beginBehind(next, last)) return;
      this.#underWay.add(next);
    }
  }
}
