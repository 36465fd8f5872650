import type {
  BackfillAnswer,
  OccurrencePage,
  OccurrenceView,
  PutSchedule,
  PutScheduleAnswer,
  SchedulePage,
  ScheduleTimes,
  ScheduleView,
} from "@unacked/contracts";
import type { z } from "zod";

export const SCHEDULE_ID = "nightly-report";
export const REQUESTED_RUN_ID = "01936f60-0b1c-7e5d-9f3a-4b6c8d0e2f43";

export const NIGHTLY = {
  description: "The report of the day before",
  cron: "30 2 * * *",
  timeZone: "Europe/Berlin",
  jitterMs: 60_000,
  task: { type: "report", params: { region: "eu" }, timeParam: "at" },
} satisfies z.input<typeof PutSchedule>;

export const EVERY_TEN_SECONDS = {
  everyMs: 10_000,
  overlap: "queue",
  catchUp: "none",
  task: { type: "poll", params: {} },
} satisfies z.input<typeof PutSchedule>;

export const MARKET_HOURS = {
  description: "New York's stock exchange",
  hours: [{ days: ["mon", "tue", "wed", "thu", "fri"], from: "09:30", to: "16:00" }],
  except: ["2026-11-26", "2026-12-25"],
  timeZone: "America/New_York",
  observers: { filter: { labels: { market: "nyse" } } },
} satisfies z.input<typeof PutSchedule>;

export const STARTED = {
  at: "2026-11-20T01:30:00.000Z",
  status: "started",
  cause: "time",
  reason: null,
  taskId: "01936f60-0b1c-7e5d-9f3a-4b6c8d0e2f41",
  taskStatus: "Completed",
  observers: null,
  lateMs: 12,
  earlierMissed: 0,
  by: null,
  version: 1,
  decidedAt: "2026-11-20T01:30:31.012Z",
} satisfies OccurrenceView;

export const SKIPPED = {
  ...STARTED,
  at: "2026-11-21T01:30:00.000Z",
  status: "skipped",
  reason: "overlap",
  taskId: null,
  taskStatus: null,
  decidedAt: "2026-11-21T01:30:44.009Z",
} satisfies OccurrenceView;

export const RUN_BY_HAND = {
  ...STARTED,
  at: "2026-11-21T09:12:44.318Z",
  cause: "manual",
  taskStatus: "Ready",
  lateMs: 0,
  by: "alice",
  decidedAt: "2026-11-21T09:12:44.318Z",
} satisfies OccurrenceView;

export const NIGHTLY_VIEW = {
  id: SCHEDULE_ID,
  description: NIGHTLY.description,
  status: "Active",
  cron: NIGHTLY.cron,
  everyMs: null,
  hours: null,
  except: null,
  timeZone: NIGHTLY.timeZone,
  startAt: null,
  endAt: null,
  jitterMs: 60_000,
  overlap: "skip",
  catchUp: "latest",
  catchUpWindowMs: 86_400_000,
  catchUpMax: 100,
  keep: 100,
  task: { ...NIGHTLY.task, pool: "default", priority: 0, onConflict: "reject" },
  observers: null,
  version: 1,
  nextAt: "2026-11-22T01:30:00.000Z",
  nextDueAt: "2026-11-22T01:30:17.204Z",
  wantedNow: null,
  running: 0,
  queued: 0,
  missed: 0,
  problem: null,
  lastOccurrence: { ...STARTED, taskStatus: null },
  pausedAt: null,
  pausedBy: null,
  createdAt: "2026-11-19T09:00:00.000Z",
  updatedAt: "2026-11-19T09:00:00.000Z",
} satisfies ScheduleView;

export const PAUSED_SCHEDULE = {
  ...NIGHTLY_VIEW,
  status: "Paused",
  nextAt: null,
  nextDueAt: null,
  pausedAt: "2026-11-21T09:00:00.000Z",
  pausedBy: "alice",
} satisfies ScheduleView;

export const MARKET_VIEW = {
  ...NIGHTLY_VIEW,
  id: "market-hours",
  description: MARKET_HOURS.description,
  cron: null,
  hours: [...MARKET_HOURS.hours],
  except: [...MARKET_HOURS.except],
  timeZone: MARKET_HOURS.timeZone,
  jitterMs: 0,
  task: null,
  observers: { ...MARKET_HOURS.observers, wanted: "running" },
  nextAt: "2026-11-23T14:30:00.000Z",
  nextDueAt: "2026-11-23T14:30:00.000Z",
  wantedNow: "paused",
  lastOccurrence: {
    ...STARTED,
    at: "2026-11-20T21:00:00.000Z",
    taskId: null,
    taskStatus: null,
    observers: { wanted: "paused", changed: 12 },
    decidedAt: "2026-11-20T21:00:00.021Z",
  },
} satisfies ScheduleView;

export const SCHEDULE_CREATED = { ...NIGHTLY_VIEW, lastOccurrence: null, outcome: "created" } satisfies PutScheduleAnswer;
export const SCHEDULE_EXISTED = { ...NIGHTLY_VIEW, outcome: "exists" } satisfies PutScheduleAnswer;
export const SCHEDULE_REPLACED = { ...NIGHTLY_VIEW, version: 2, outcome: "replaced" } satisfies PutScheduleAnswer;

export const SCHEDULE_PAGE = {
  items: [MARKET_VIEW, NIGHTLY_VIEW],
  total: 2,
  isTotalExact: true,
  nextCursor: null,
} satisfies SchedulePage;

export const OCCURRENCE_PAGE = { items: [RUN_BY_HAND, SKIPPED, STARTED], nextCursor: null } satisfies OccurrencePage;

const BERLIN = { cron: NIGHTLY.cron, everyMs: null, hours: null, timeZone: NIGHTLY.timeZone };

export const NEXT_TIMES = {
  ...BERLIN,
  version: 1,
  times: [
    {
      at: "2026-11-22T01:30:00.000Z",
      local: "2026-11-22T02:30:00+01:00",
      dueAt: "2026-11-22T01:30:17.204Z",
      wanted: null,
    },
  ],
} satisfies ScheduleTimes;

export const NEXT_CHANGES = {
  cron: null,
  everyMs: null,
  hours: [...MARKET_HOURS.hours],
  timeZone: MARKET_HOURS.timeZone,
  version: null,
  times: [
    {
      at: "2026-11-23T14:30:00.000Z",
      local: "2026-11-23T09:30:00-05:00",
      dueAt: "2026-11-23T14:30:00.000Z",
      wanted: "running",
    },
  ],
} satisfies ScheduleTimes;

export const BACKFILL = { from: "2026-11-01T00:00:00Z", to: "2026-11-08T00:00:00Z" };

export const BACKFILLED = {
  ...BERLIN,
  version: 1,
  times: 7,
  started: 1,
  queued: 5,
  skipped: 0,
  alreadyStarted: 1,
} satisfies BackfillAnswer;
