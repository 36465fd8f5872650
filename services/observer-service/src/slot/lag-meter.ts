import { performance } from "node:perf_hooks";
import { type FromSlot, LAG_TELL_MS } from "../wire/messages.ts";

/**
 * Measures how late the ticks of an event loop come. The worst is sent every 2 s, with what the system does not reveal
 * otherwise.
 */
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
    // With /proc the keeper looks for itself, and trusts that more.
    const memory = process.platform === "linux" ? {} : { memoryBytes: process.memoryUsage.rss() };
    this.#send({ kind: "lag", lagMs: Math.round(this.#worstMs), ...memory });
    this.#worstMs = 0;
    this.#toldMs = nowMs;
  }
}
