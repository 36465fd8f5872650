import { nowMs } from "../meter/clock.mjs";

const PATIENCE_MS = 60_000;

/**
 * Follows the stream of events as the page does, until `count` observers have been told as they shall be in the end.
 *
 * @param {import("../rig/system.mjs").System} system
 * @param {{ act: () => Promise<unknown>, isLast: (view: any) => boolean, count: number }} what
 * @returns {Promise<{ perS: number, note?: string }>} events a second from the first to the last
 */
export async function followUntil({ rest }, { act, isLast, count }) {
  const leaving = new AbortController();
  const done = new Set();
  let [events, resyncs, firstMs, lastMs] = [0, 0, 0, 0];
  let isReady = () => {};
  const ready = new Promise((resolve) => (isReady = () => resolve(undefined)));
  const over = rest.follow("/api/v1/events", leaving.signal, (event, data) => {
    if (event === "ready") isReady();
    if (event === "resync") resyncs += 1;
    if (event !== "observer") return;
    events += 1;
    lastMs = nowMs();
    firstMs ||= lastMs;
    const view = JSON.parse(data);
    if (isLast(view)) done.add(view.id);
    if (done.size >= count || resyncs > 0) leaving.abort();
  });
  await ready;
  const timer = setTimeout(() => leaving.abort(), PATIENCE_MS);
  await act();
  await over;
  clearTimeout(timer);
  const perS = (events * 1_000) / Math.max(1, lastMs - firstMs);
  if (resyncs > 0) return { perS, note: "the client of the stream was told to read the lists again" };
  return done.size >= count
    ? { perS }
    : { perS, note: `only ${done.size} of ${count} changes came within ${PATIENCE_MS} ms` };
}
