import { LAG_TELL_MS } from "../../wire/messages.ts";

const WINDOW_MS = 10_000;

/** The worst lateness of a slot's event loop in the last 10 s, as it reports it, and as long as it does not report. */
export class SlotLag {
  #told: { atMs: number; lagMs: number }[] = [];
  #heardAtMs: number | undefined;

  tell(lagMs: number, nowMs = performance.now()): void {
    this.#heardAtMs = nowMs;
    this.#told = [...this.#told.filter(({ atMs }) => nowMs - atMs < WINDOW_MS), { atMs: nowMs, lagMs }];
  }

  /**
   * A slot that is silent for longer than it should be is late by that. One that has yet to speak is not known to be late.
   */
  worstMs(nowMs = performance.now()): number {
    const silentMs = this.#heardAtMs === undefined ? 0 : nowMs - this.#heardAtMs - LAG_TELL_MS;
    const recent = this.#told.filter(({ atMs }) => nowMs - atMs < WINDOW_MS).map(({ lagMs }) => lagMs);
    return Math.round(Math.max(0, silentMs > LAG_TELL_MS / 2 ? silentMs : 0, ...recent));
  }
}
