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
  /** Reports the state of the service. */
  readonly tell: () => void;
  readonly log: Log;
}

const CANCEL_LIMIT_MS = 2_000;

/**
 * Takes nothing new and, unless it is only cordoned, gives back what runs. This holds for as long as this boot lives, over every session,
 * or until it is taken back. A crash in the middle leaves the rest to the broker, which gives it back as well.
 */
export class Drain {
  readonly #parts: DrainParts;
  #begun = false;
  #cordoned = false;
  /** How often it was taken back. A drain that began before the last time has no effect any more. */
  #takenBack = 0;

  constructor(parts: DrainParts) {
    this.#parts = parts;
  }

  /** Whether nothing is to be consumed any more. */
  get begun(): boolean {
    return this.#begun;
  }

  /** Whether nothing is to be taken any more, while what runs goes on. */
  get cordoned(): boolean {
    return this.#cordoned;
  }

  /** From now on deliveries go straight back. */
  refuseAll(): void {
    this.#begun = true;
    this.#parts.intake.drain();
  }

  /** Safe to repeat. What the broker has already sent is run. */
  async cordon(): Promise<void> {
    const { tasks, work, tell, log } = this.#parts;
    if (!this.#cordoned) log.info({ event: "cordoned" }, "nothing is taken any more; what runs goes on");
    this.#cordoned = true;
    tell();
    await Promise.all([work.close("cordon"), tasks.cordon()]);
  }

  /** Takes back a cordon, or a drain. What is already being given back still goes. Safe to repeat. */
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
   * Lets every run settle and gives its message back. Resolves when that is done, or after `limitMs`: the rest then goes back
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
    // The consumer ends first, or the broker would hand the released messages straight back.
    await within(Math.min(CANCEL_LIMIT_MS, leftMs()), work.close("drain"));
    if (this.#takenBack !== takenBack) return;
    runner.stopAll({ kind: "draining" });
    await within(leftMs(), Promise.all([runner.idle(), tasksDone]));
    if (this.#takenBack !== takenBack) return; // the drain was taken back, and what runs now was taken since
    const observers = runner.unsettled();
    if (observers.length > 0)
      log.error(
        { event: "drained-without", observers },
        "these observers did not stop in time; they end when they settle, or with their slot or this process",
      );
  }
}
