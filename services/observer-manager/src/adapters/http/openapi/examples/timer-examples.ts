import type { CreateTimers, PutTimer, PutTimerAnswer, TimerBatchResults, TimerPage, TimerView } from "@unacked/contracts";
import type { z } from "zod";
import { problemExample } from "./problem-examples.ts";

export const TIMER_ID = "01936f60-0b1c-7e5d-9f3a-4b6c8d0e2f41";

export const NEW_TIMER = {
  at: "2026-12-24T18:00:00+01:00",
  name: "cart.abandoned",
  payload: { cart: 4711 },
} satisfies z.input<typeof PutTimer>;

export const UNIX_TIMER = { at: 1_798_131_600, name: "cart.abandoned", payload: { cart: 4711 }, expiresAt: 1_798_138_800 };

export const SOON_TIMER = { inMs: 300_000, name: "tea.ready" } satisfies z.input<typeof PutTimer>;

/** The timer that becomes of it. */
export const WAITING = {
  id: TIMER_ID,
  name: "cart.abandoned",
  at: "2026-12-24T17:00:00.000Z",
  payload: { cart: 4711 },
  status: "Waiting",
  expiresAt: "2026-12-25T17:00:00.000Z",
  returns: 0,
  lastProblem: null,
  nextTryAt: "2026-12-24T17:00:00.000Z",
  endedAt: null,
  createdAt: "2026-11-20T09:00:00.000Z",
} satisfies TimerView;

export const UNHEARD = {
  ...WAITING,
  returns: 3,
  lastProblem: "returned",
  nextTryAt: "2026-12-24T17:00:15.000Z",
} satisfies TimerView;

export const FIRED = {
  ...WAITING,
  status: "Fired",
  nextTryAt: null,
  endedAt: "2026-12-24T17:00:00.007Z",
} satisfies TimerView;

export const TIMER_CANCELLED = {
  ...WAITING,
  status: "Cancelled",
  nextTryAt: null,
  endedAt: "2026-12-01T12:00:00.000Z",
} satisfies TimerView;

export const TIMER_CREATED = { ...WAITING, outcome: "created" } satisfies PutTimerAnswer;
export const TIMER_EXISTED = { ...WAITING, outcome: "exists" } satisfies PutTimerAnswer;
export const TIMER_REPLACED = { ...WAITING, outcome: "replaced" } satisfies PutTimerAnswer;

export const TIMER_BATCH = {
  timers: [
    { id: TIMER_ID, ...NEW_TIMER },
    { id: "01936f60-0b1c-7e5d-9f3a-4b6c8d0e2f42", ...NEW_TIMER, at: "2026-12-24T19:00:00+01:00" },
  ],
} satisfies z.input<typeof CreateTimers>;

export const TIMER_BATCH_RESULTS = {
  results: [
    { status: 201, timer: TIMER_CREATED },
    { status: 410, problem: problemExample("timer-over") },
  ],
} satisfies TimerBatchResults;

export const TIMER_PAGE = { items: [WAITING], total: 1, isTotalExact: true, nextCursor: null } satisfies TimerPage;
