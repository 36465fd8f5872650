import type { Log } from "../../log.ts";
import { within } from "../../within.ts";
import type { Runner } from "../runs/runner.ts";
import type { Intake } from "./intake.ts";
import type { WorkConsumer } from "./work-consumer.ts";

export interface DrainParts {
  readonly intake: Pick<Intake, "drain" | "goOn">;
  readonly tasks: { drain(limitMs: number): Promise<void>; cordon(): Promise<void>; goOn(): Promise<void> };
  readonly runner: Pick<Runner, "stopAll" | "idle" | "unsettled" | "runs">;
  readonly work: Pick<WorkConsumer, "close" | "open">;
  /** Says how things stand. */
  readonly tell: () => void;
  readonly log: Log;
}

const CANCEL_LIMIT_MS = 2_000;

/**
 * Takes nothing new, and gives back what runs, unless it is cordoned only; for as long as this boot lives, over every session, or until it is
 * taken back. A crash in the middle leaves the rest to the broker, which gives it back likewise.
 */
export class Drain {
  readonly #parts: DrainParts;
  #begun = false;
  #cordoned = false;
  /** How often it was taken back: a run that began before the last time has no say any more. */
  #takenBack = 0;

  constructor(parts: DrainParts) {
    this.#parts = parts;
  }

  /** Nothing is to be consumed any more. */
  get begun(): boolean {
    return this.#begun;
  }

  /** Nothing is to be taken any more; what runs goes on. */
  get cordoned(): boolean {
    return this.#cordoned;
  }

  /** From now on deliveries go straight back. */
  refuseAll(): void {
    this.#begun = true;
    this.#parts.intake.drain();
  }

  /** Safe to repeat. What the broker has sent already is run. */
  async cordon(): Promise<void> {
    const { tasks, work, tell, log } = this.#parts;
    if (!this.#cordoned) log.info({ event: "cordoned" }, "nothing is taken any more; what runs goes on");
    this.#cordoned = true;
    tell();
    await Promise.all([work.close("cordon"), tasks.cordon()]);
  }

  /** Takes back a cordon, or a drain: what is being given back goes all the same. Safe to repeat. */
  async goOn(): Promise<void> {
    const { intake, tasks, work, tell, log } = this.#parts;
    if (this.#cordoned || this.#begun) log.info({ event: "uncordoned" }, "work is taken again");
    this.#cordoned = false;
    this.#begun = false;
    this.#takenBack += 1;
    intake.goOn();
    tell();
    await Promise.all([work.open("cordon"), work.open("drain"), tasks.goOn()]);
  }

  /**
   * Lets every run settle and gives its message back; resolves when that is done, or after `limitMs`: then the rest goes back
   * when it settles, or when the process ends. Safe to repeat.
   */
  async run(why: string, limitMs: number): Promise<void> {
    const { runner, tasks, work, tell, log } = this.#parts;
    const takenBack = this.#takenBack;
    const endMs = performance.now() + limitMs;
    const leftMs = (): number => Math.max(0, endMs - performance.now());
    log.info(
      { event: "draining", why, running: runner.runs.size },
      "draining: nothing is taken any more, every run is stopped and given back",
    );
    this.refuseAll();
    tell();
    const tasksDone = tasks.drain(limitMs);
    // The consumer first, or the broker hands the released messages straight back.
    await within(Math.min(CANCEL_LIMIT_MS, leftMs()), work.close("drain"));
    if (this.#takenBack !== takenBack) return;
    runner.stopAll({ kind: "draining" });
    await within(leftMs(), Promise.all([runner.idle(), tasksDone]));
    if (this.#takenBack !== takenBack) return; // what runs now was taken since
    const observers = runner.unsettled();
    if (observers.length > 0)
      log.error(
        { event: "drained-without", observers },
        "these observers did not stop in time; they end when they settle, or with their slot or this process",
      );
  }
}
