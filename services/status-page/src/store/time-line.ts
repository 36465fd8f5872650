import type { RunView, TimelineEntry } from "@unacked/contracts";

/** One run on the line: where it stands, as shares of the whole (0 to 1). */
export interface Bar {
  run: RunView;
  from: number;
  to: number;
}

/**
 * The newest runs side by side in time. A life of months with a minute of trouble at its end would hide the trouble, so the line
 * begins where the oldest of those shown did.
 * @param runs newest first
 */
export function timeLineOf(runs: readonly RunView[], nowMs: number): { startMs: number; endMs: number; bars: Bar[] } {
  const starts = runs.map(({ startedAt }) => Date.parse(startedAt));
  const startMs = Math.min(nowMs, ...starts);
  const ends = runs.map(({ endedAt }) => (endedAt === null ? nowMs : Date.parse(endedAt)));
  const endMs = Math.max(startMs + 1, ...ends, ...starts);
  const share = (ms: number) => (ms - startMs) / (endMs - startMs);
  const bars = runs.map((run, index) => ({ run, from: share(starts[index] ?? startMs), to: share(ends[index] ?? endMs) }));
  return { startMs, endMs, bars };
}

/** Something that happened within a run, and where that stands on the line. */
export interface Mark {
  kind: "attempt-failed" | "silent" | "heard";
  at: number;
}

/** What goes wrong without ending a run would not be seen in its bar. By the run's id; what is not on the line is left out. */
export function marksOf(
  entries: readonly Pick<TimelineEntry, "at" | "kind" | "run">[],
  { startMs, endMs }: { startMs: number; endMs: number },
): Map<string, Mark[]> {
  const marks = new Map<string, Mark[]>();
  for (const { at, kind, run } of entries) {
    if (run === null || (kind !== "attempt-failed" && kind !== "silent" && kind !== "heard")) continue;
    const share = (Date.parse(at) - startMs) / (endMs - startMs);
    if (share < 0 || share > 1) continue;
    marks.set(run.id, [...(marks.get(run.id) ?? []), { kind, at: share }]);
  }
  return marks;
}
