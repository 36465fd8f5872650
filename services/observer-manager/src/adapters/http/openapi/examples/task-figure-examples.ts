import type { TaskFigures, TaskFiguresNow } from "@unacked/contracts";

const COUNTS = { created: 118, completed: 117, failed: 1, cancelled: 0, retried: 4, meanMs: 812.5, p95Ms: 1_904.2 };

export const FIGURES_BY_MINUTE = {
  type: "resize",
  by: "minute",
  items: [
    { at: "2026-11-20T08:58:00.000Z", ...COUNTS },
    { at: "2026-11-20T08:59:00.000Z", ...COUNTS, created: 131, completed: 120, failed: 0 },
  ],
} satisfies TaskFigures;

export const FIGURES_NOW = {
  by: "minute",
  at: "2026-11-20T09:00:30.000Z",
  items: [
    {
      type: "resize",
      waiting: 12,
      isWaitingExact: true,
      running: 7,
      oldestDueAt: "2026-11-20T09:00:21.000Z",
      workers: 20,
      loadPercent: 112.4,
      lately: { since: "2026-11-20T08:59:00.000Z", ...COUNTS },
      bars: [
        { at: "2026-11-20T08:59:00.000Z", completed: 120, failed: 0 },
        { at: "2026-11-20T09:00:00.000Z", completed: 61, failed: 1 },
      ],
    },
  ],
  pools: [{ pool: "default", workers: 20, loadPercent: 64 }],
} satisfies TaskFiguresNow;
