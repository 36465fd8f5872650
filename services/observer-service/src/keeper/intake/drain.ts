import type { Log } from "../../log.ts";
import { within } from "../../within.ts";
import type { Runner } from "../runs/runner.ts";
import type { Intake } from "./intake.ts";
import type { WorkConsumer } from "./work-consumer.ts";

export interface DrainParts {
  readonly intake: Pick<Intake, "drain">;
  readonly tasks: { drain(limitMs: number): Promise<void> };
  readonly runner: Pick<Runner, "stopAll" | "idle" | "unsettled" | "slots">;
  readonly work: Pick<WorkConsumer, "cancel">;
  /** Says how things stand. */
  readonly tell: () => void;
  readonly log: Log;
}

const CANCEL_LIMIT_MS = 2_000;

/**
 * Takes nothing new and gives back what runs; for as long as this boot lives, since no session consumes once `begun`.
 * A crash in the middle leaves the rest to the broker, which gives it back likewise.
 */
export class Drain {
  readonly #parts: DrainParts;
  #begun = false;

  constructor(parts: DrainParts) {
    this.#parts = parts;
  }

  /** Nothing is to be consumed any more. */
  get begun(): boolean {
    return this.#begun;
  }

  /** From now on deliveries go straight back. */
  refuseAll(): void {
    this.#begun = true;
    this.#parts.intake.drain();
  }

  /**
   * Lets every run settle and gives its message back; resolves when that is done, or after `limitMs`: then the rest goes back
   * when it settles, or when the process ends. Safe to repeat.
   */
  async run(why: string, limitMs: number): Promise<void> {
    const { runner, tasks, work, tell, log } = this.#parts;
    const endMs = performance.now() + limitMs;
    const leftMs = (): number => Math.max(0, endMs - performance.now());
    log.info(
      { event: "draining", why, running: runner.slots.size },
      "draining: nothing is taken any more, every run is stopped and given back",
    );
    this.refuseAll();
    tell();
    const tasksDone = tasks.drain(limitMs);
    // The consumer first, or the broker hands the released messages straight back.
    await within(Math.min(CANCEL_LIMIT_MS, leftMs()), work.cancel());
    runner.stopAll({ kind: "draining" });
    await within(leftMs(), Promise.all([runner.idle(), tasksDone]));
    const observers = runner.unsettled();
    if (observers.length > 0)
      log.error(
        { event: "drained-without", observers },
        "these observers did not stop in time; they go when they settle, or when this process ends",
      );
  }
}
