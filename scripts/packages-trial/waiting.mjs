import { setTimeout as sleep } from "node:timers/promises";
import { PlainError } from "../progress.mjs";

const PATIENCE_MS = 120_000;

/**
 * Looks again and again.
 *
 * @param {string} what in words: it is waited until so
 * @param {() => boolean | Promise<boolean>} isSo
 */
export async function until(what, isSo) {
  const deadline = performance.now() + PATIENCE_MS;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new PlainError(`Waited ${PATIENCE_MS / 1000} s until ${what}.`);
    await sleep(50);
  }
}
