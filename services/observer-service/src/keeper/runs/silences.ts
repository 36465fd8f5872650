import type { LiveRun } from "./live-run.ts";

/**
 * How many are reported in a second: thousands of feeds may fall silent at once. One that is heard again meanwhile is not reported.
 */
const AT_ONCE = 1_000;
const PAUSE_MS = 1_000;

/** Reports which runs have become silent, and which are heard again: the state that holds when their turn comes. */
export class Silences {
  readonly #tell: (run: LiveRun) => void;
  readonly #due = new Set<LiveRun>();
  #timer: NodeJS.Timeout | undefined;

  constructor(tell: (run: LiveRun) => void) {
    this.#tell = tell;
  }

  /** @param quietForMs undefined: it is heard again */
  note(run: LiveRun, quietForMs: number | undefined): void {
    logSilence(run, quietForMs);
    if (run.state.phase !== "running") return;
    const wasTold = run.silence?.isTold ?? false;
    run.silence = { sinceMs: quietForMs === undefined ? undefined : performance.now() - quietForMs, isTold: wasTold };
    this.#due.add(run);
    if (this.#timer === undefined) this.#tellAfter(0);
  }

  #tellSome(): void {
    this.#timer = undefined;
    let told = 0;
    for (const run of this.#due) {
      if (told === AT_ONCE) break;
      this.#due.delete(run);
      const { silence } = run;
      // Its handler has ended since, which reports more.
      if (silence === undefined || (silence.sinceMs !== undefined) === silence.isTold) continue;
      silence.isTold = silence.sinceMs !== undefined;
      this.#tell(run);
      told += 1;
    }
    if (this.#due.size > 0 || told > 0) this.#tellAfter(PAUSE_MS);
  }

  #tellAfter(ms: number): void {
    this.#timer = setTimeout(() => this.#tellSome(), ms).unref();
  }
}

function logSilence({ log }: LiveRun, quietForMs: number | undefined): void {
  if (quietForMs === undefined) return log.info({ event: "run-heard-again" }, "the observer is heard again");
  const seconds = Math.round(quietForMs / 1_000);
  log.warn({ event: "run-silent", seconds }, "the observer runs, and neither emits nor says that it is alive");
}
