import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "../../log.ts";
import type { LiveRun } from "../runs/live-run.ts";
import type { Runner } from "../runs/runner.ts";
import type { WorkConsumer } from "./work-consumer.ts";

export interface ShedParts {
  readonly work: Pick<WorkConsumer, "close" | "open">;
  readonly runner: Pick<Runner, "stop">;
  /** Looks at the work queue. Rejects when the session is lost. */
  readonly look: () => Promise<{ messageCount: number; consumerCount: number }>;
  /** How long a handler may take to settle. */
  readonly stopTimeoutMs: number;
  readonly log: Log;
}

/** How long others have at most to take what is shed. */
export const ASIDE_MS = 5_000;
const LOOK_MS = 50;
/** After this long messages count as not taken: those who could take them are full, or gone. */
const UNTAKEN_MS = 300;
const NONE = { runs: [], untilMs: 0 };

/**
 * Gives runs to others: takes nothing for a moment, lets them settle, gives their messages back. A failover does not wait for that: as soon
 * as messages stay in the queue, or nobody else consumes it, this service takes again. A crash in the middle leaves it to the broker.
 */
export class Shed {
  readonly #parts: ShedParts;
  #asideUntilMs = 0;
  #isAside = false;
  /** The runs that are to leave, and until when they are waited for. */
  #leaving: { runs: readonly LiveRun[]; untilMs: number } = NONE;

  constructor(parts: ShedParts) {
    this.#parts = parts;
  }

  /** Safe to repeat. Runs that are ending are left alone. */
  async give(runs: readonly LiveRun[]): Promise<void> {
    const { runner, log, stopTimeoutMs } = this.#parts;
    log.info({ event: "shedding", observers: runs.length }, "these are given to others, and nothing is taken meanwhile");
    const aside = this.stepAside();
    this.#leaving = { runs: [...this.#leaving.runs, ...runs], untilMs: performance.now() + stopTimeoutMs };
    for (const run of runs) runner.stop(run, { kind: "shed" });
    await aside;
  }

  /** Takes nothing for a moment. */
  async stepAside(): Promise<void> {
    this.#asideUntilMs = performance.now() + ASIDE_MS;
    if (this.#isAside) return;
    this.#isAside = true;
    const { work } = this.#parts;
    try {
      await work.close("shed");
      await this.#untilTaken();
    } finally {
      this.#isAside = false;
      this.#leaving = NONE;
      await work.open("shed");
    }
  }

  /** A message goes back when its handler has settled, and others get their time from then on: at once it might come back here. */
  #isYetAside(nowMs: number): boolean {
    const { runs, untilMs } = this.#leaving;
    if (nowMs < untilMs && runs.some(({ state }) => state.phase !== "over")) this.#asideUntilMs = nowMs + ASIDE_MS;
    return nowMs < this.#asideUntilMs;
  }

  async #untilTaken(): Promise<void> {
    let least = 0;
    let sinceMs = performance.now();
    while (this.#isYetAside(performance.now())) {
      const { messageCount, consumerCount } = await this.#parts.look();
      const nowMs = performance.now();
      if (consumerCount === 0 && messageCount > 0) return;
      if (messageCount === 0 || messageCount < least) sinceMs = nowMs;
      least = messageCount;
      if (nowMs - sinceMs >= UNTAKEN_MS) return;
      await sleep(LOOK_MS);
    }
  }
}
