import { performance } from "node:perf_hooks";
import { type FromSlot, LAG_TELL_MS } from "../wire/messages.ts";

/** How late the ticks of an event loop come: the worst is told every 2 s, with what the system does not tell by itself. */
export class LagMeter {
  readonly #tickMs: number;
  readonly #send: (message: FromSlot) => void;
  #lastMs = performance.now();
  #toldMs = performance.now();
  #worstMs = 0;

  constructor(tickMs: number, send: (message: FromSlot) => void) {
    this.#tickMs = tickMs;
    this.#send = send;
  }

  tick(nowMs = performance.now()): void {
    this.#worstMs = Math.max(this.#worstMs, nowMs - this.#lastMs - this.#tickMs);
    this.#lastMs = nowMs;
    if (nowMs - this.#toldMs < LAG_TELL_MS) return;
    // Where there is /proc the keeper looks for itself, and believes it more.
    const memory = process.platform === "linux" ? {} : { memoryBytes: process.memoryUsage.rss() };
    this.#send({ kind: "lag", lagMs: Math.round(this.#worstMs), ...memory });
    this.#worstMs = 0;
    this.#toldMs = nowMs;
  }
}
