import { performance } from "node:perf_hooks";
import { clearInterval, setInterval } from "node:timers";
import type { Silence } from "@unacked/sdk";

const LOOK_MS = 250;

/** A running handler, as this watches it. */
export interface Watched {
  readonly limits: Silence;
  /** Whether there was a beat since the last call. */
  takeBeat(): boolean;
  /** Whether something that it emitted waits for the broker. */
  readonly waits: boolean;
  onQuiet(forMs: number): void;
  onHeard(): void;
  /** It has been silent for as long as it may. Nothing more is reported of it. */
  onTooLong(forMs: number): void;
}

interface Entry {
  quietMs: number;
  isTold: boolean;
}

/**
 * Finds handlers of this process that have had no beat for too long. Only this process's own looks count, each for at most a
 * quarter of a second: a machine that was paused, or an event loop that was blocked, blames nobody. Time in which an emit waits, or
 * in which nothing can be published, does not count either.
 */
export class SilenceWatch {
  readonly #entries = new Map<Watched, Entry>();
  #isHeld = false;
  #timer: NodeJS.Timeout | undefined;
  #lookedAtMs = 0;

  add(watched: Watched): void {
    this.#entries.set(watched, { quietMs: 0, isTold: false });
    if (this.#timer !== undefined) return;
    this.#lookedAtMs = performance.now();
    this.#timer = setInterval(() => this.look(), LOOK_MS);
    this.#timer.unref();
  }

  /** Its limits have changed. Reports by the old ones no longer count, but the time that has passed does. */
  changed(watched: Watched): void {
    const entry = this.#entries.get(watched);
    if (entry === undefined) return this.add(watched);
    if (entry.isTold) watched.onHeard();
    entry.isTold = false;
  }

  remove(watched: Watched): void {
    this.#entries.delete(watched);
    if (this.#entries.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Whether time is not counted now, as the broker takes nothing. */
  hold(isHeld: boolean): void {
    this.#isHeld = isHeld;
  }

  look(nowMs = performance.now()): void {
    const passedMs = Math.min(LOOK_MS, nowMs - this.#lookedAtMs);
    this.#lookedAtMs = nowMs;
    for (const [watched, entry] of this.#entries) this.#lookAt(watched, entry, passedMs);
  }

  #lookAt(watched: Watched, entry: Entry, passedMs: number): void {
    if (watched.takeBeat()) {
      entry.quietMs = 0;
      if (entry.isTold) watched.onHeard();
      entry.isTold = false;
      return;
    }
    if (this.#isHeld || watched.waits) return;
    entry.quietMs += passedMs;
    const { warnAfterMs = Number.POSITIVE_INFINITY, restartAfterMs = Number.POSITIVE_INFINITY } = watched.limits;
    if (entry.quietMs >= restartAfterMs) {
      this.remove(watched);
      return watched.onTooLong(entry.quietMs);
    }
    if (entry.isTold || entry.quietMs < warnAfterMs) return;
    entry.isTold = true;
    watched.onQuiet(entry.quietMs);
  }
}
