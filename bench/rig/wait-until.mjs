import { setTimeout as sleep } from "node:timers/promises";
import { nowMs } from "../meter/clock.mjs";

/**
 * Looks every `everyMs` until it holds; resolves to when the look began that found it so (CLOCK_MONOTONIC, ms).
 *
 * @param {string} what
 * @param {() => Promise<boolean> | boolean} holds
 * @param {{ everyMs?: number, timeoutMs?: number | undefined }} [options]
 */
export async function waitUntil(what, holds, { everyMs = 10, timeoutMs = 120_000 } = {}) {
  const beganMs = nowMs();
  for (;;) {
    const lookedMs = nowMs();
    if (await holds()) return lookedMs;
    if (lookedMs - beganMs > timeoutMs) throw new Error(`Waited ${timeoutMs / 1_000} s for this: ${what}`);
    await sleep(everyMs);
  }
}
