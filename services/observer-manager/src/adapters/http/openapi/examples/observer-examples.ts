import type {
  CreateObserver,
  ObserverChanged,
  ObserverColumns,
  ObserverPage,
  ObserverView,
  RunList,
  TimelineEntry,
  TimelinePage,
} from "@unacked/contracts";
import type { z } from "zod";

/** The id of the service in service-examples.ts. */
export const SERVICE_ID = "01936f5e-1f6b-7d0e-9a55-2f6c1d3b7a10";
export const OBSERVER_ID = "01936f5e-3c80-7b5e-8c41-5d0e6f7a8b90";
const RUN_ID = "01936f5e-3ca1-7f2a-b3d4-0c1e2f3a4b5c";

export const MINIMAL = { name: "heartbeat", type: "ticker" } satisfies z.input<typeof CreateObserver>;

/** A body that a client sends. The examples below show what becomes of it. */
export const NEW_OBSERVER = {
  name: "shop-front",
  type: "http-poll",
  params: { url: "https://shop.example/health", everyMs: 5_000 },
  labels: { team: "web" },
} satisfies z.input<typeof CreateObserver>;

const { name: _inThePath, ...DEFINITION } = NEW_OBSERVER;

export { DEFINITION };

export const CREATED = {
  id: OBSERVER_ID,
  ...NEW_OBSERVER,
  pool: "default",
  retry: {
    maxAttempts: "unlimited",
    delaysMs: { initialMs: 1_000, factor: 2, maxMs: 300_000, jitter: 0.2 },
    resetAfterMs: 600_000,
  },
  silence: null,
  silentSince: null,
  status: "Created",
  pending: null,
  service: null,
  currentRunId: null,
  specVersion: 1,
  observedSpecVersion: null,
  rejectedUpdate: null,
  revision: 1,
  runNumber: 0,
  epoch: 0,
  restartsLately: 0,
  fencingToken: null,
  waitsFor: null,
  attempts: 0,
  lastError: null,
  nextAttemptAt: null,
  startAt: null,
  startProblem: null,
  createdAt: "2026-11-20T09:00:00.000Z",
  modifiedAt: "2026-11-20T09:00:00.000Z",
} satisfies ObserverView;

export const PROCESSING = {
  ...CREATED,
  status: "Processing",
  service: { id: SERVICE_ID, name: "observer-service-1" },
  currentRunId: RUN_ID,
  observedSpecVersion: 1,
  runNumber: 1,
  epoch: 1,
  attempts: 1,
  modifiedAt: "2026-11-20T09:00:00.031Z",
} satisfies ObserverView;

export const LAST_ERROR = {
  name: "TimeoutError",
  message: "no answer within 10000 ms",
  group: "TimeoutError: no answer within <n> ms",
  at: "2026-11-20T09:41:07.402Z",
} satisfies ObserverView["lastError"];

export const RETRYING = {
  ...PROCESSING,
  status: "Retrying",
  attempts: 3,
  lastError: LAST_ERROR,
  nextAttemptAt: "2026-11-20T09:41:11.402Z",
  modifiedAt: "2026-11-20T09:41:07.402Z",
} satisfies ObserverView;

export const FAILED = {
  ...CREATED,
  retry: { maxAttempts: 3, delaysMs: [1_000, 5_000], resetAfterMs: 600_000 },
  status: "Failed",
  runNumber: 1,
  epoch: 1,
  attempts: 3,
  lastError: LAST_ERROR,
  modifiedAt: "2026-11-20T09:41:07.402Z",
} satisfies ObserverView;

/** A Failed one that was restarted: sent again, with the next revision. */
export const SENT_AGAIN = {
  ...FAILED,
  status: "Created",
  revision: 2,
  attempts: 0,
  modifiedAt: "2026-11-20T10:15:00.000Z",
} satisfies ObserverView;

export const ON_DELETING = {
  ...PROCESSING,
  status: "OnDeleting",
  modifiedAt: "2026-11-20T17:30:00.000Z",
} satisfies ObserverView;

/** A pause of PROCESSING: its service is told to stop it. */
export const PAUSING = {
  ...PROCESSING,
  pending: "pause",
  modifiedAt: "2026-11-20T17:30:00.000Z",
} satisfies ObserverView;

export const PAUSED = {
  ...CREATED,
  status: "Paused",
  runNumber: 1,
  epoch: 1,
  attempts: 1,
  modifiedAt: "2026-11-20T17:30:00.021Z",
} satisfies ObserverView;

export const RESUMED = {
  ...PAUSED,
  status: "Created",
  revision: 2,
  modifiedAt: "2026-11-21T08:00:00.000Z",
} satisfies ObserverView;

const FASTER = { ...NEW_OBSERVER.params, everyMs: 1_000 };

/** A change of PROCESSING: its service is told to stop it, and it is sent again in its new form; or its run is told. */
export const CHANGED = {
  ...PROCESSING,
  params: FASTER,
  specVersion: 2,
  pending: "update",
  modifiedAt: "2026-11-20T17:30:00.000Z",
  outcome: "changed",
  changed: [{ field: "params", is: NEW_OBSERVER.params, wanted: FASTER }],
} satisfies ObserverChanged;

export const CHANGED_AT_ONCE = {
  ...PROCESSING,
  labels: { team: "shop" },
  specVersion: 2,
  observedSpecVersion: 2,
  modifiedAt: "2026-11-20T17:30:00.000Z",
  outcome: "changed",
  changed: [{ field: "labels", is: NEW_OBSERVER.labels, wanted: { team: "shop" } }],
} satisfies ObserverChanged;

export const UNCHANGED = { ...PROCESSING, outcome: "unchanged", changed: [] } satisfies ObserverChanged;

export const PUT_CREATED = { ...CREATED, outcome: "created", changed: [] } satisfies ObserverChanged;

export const DELETED = {
  ...CREATED,
  status: "Deleted",
  modifiedAt: "2026-11-20T17:30:00.000Z",
} satisfies ObserverView;

export const OBSERVER_PAGE = {
  items: [PROCESSING],
  total: 214,
  nextCursor: "bi4xNzk1MTY2NDAwMDAwMDAwLjAxOTM2ZjVlLTNjODAtN2I1ZS04YzQxLTVkMGU2ZjdhOGI5MA",
} satisfies ObserverPage;

export const OBSERVER_COLUMN_PAGE = {
  columns: {
    id: [PROCESSING.id],
    name: [PROCESSING.name],
    type: [PROCESSING.type],
    pool: [PROCESSING.pool],
    labels: [PROCESSING.labels],
    status: [PROCESSING.status],
    pending: [null],
    silentSince: [null],
    service: [0],
    runNumber: [PROCESSING.runNumber],
    restartsLately: [0],
    attempts: [PROCESSING.attempts],
    lastError: [null],
    createdAt: [PROCESSING.createdAt],
    modifiedAt: [PROCESSING.modifiedAt],
  },
  services: [PROCESSING.service],
  total: OBSERVER_PAGE.total,
  nextCursor: OBSERVER_PAGE.nextCursor,
} satisfies ObserverColumns;

/** Its first service was killed; it runs on another now. */
export const RUNS = {
  items: [
    {
      id: "01936f7b-55d0-7c11-9e0f-1a2b3c4d5e6f",
      observerId: OBSERVER_ID,
      service: { id: "01936f5e-2a02-7aa1-8b1c-9d8e7f6a5b4c", name: "observer-service-2" },
      runNumber: 2,
      epoch: 2,
      fencingToken: null,
      revision: 1,
      specVersion: 1,
      generation: 1,
      state: "Current",
      startedAt: "2026-11-20T09:31:45.488Z",
      endedAt: null,
      endReason: null,
      error: null,
      interruption: null,
    },
    {
      id: RUN_ID,
      observerId: OBSERVER_ID,
      service: { id: SERVICE_ID, name: "observer-service-1" },
      runNumber: 1,
      epoch: 1,
      fencingToken: null,
      revision: 1,
      specVersion: 1,
      generation: 1,
      state: "Ended",
      startedAt: "2026-11-20T09:00:00.031Z",
      endedAt: "2026-11-20T09:31:45.490Z",
      endReason: "service-gone",
      error: null,
      interruption: null,
    },
  ],
  total: 2,
} satisfies RunList;

const NOTHING = { run: null, service: null, action: null, by: null, reason: null, attempt: null, text: null } as const;

export const TIMELINE = {
  items: [
    {
      ...NOTHING,
      at: "2026-11-20T09:31:45.490Z",
      kind: "ended",
      run: { id: RUN_ID, runNumber: 1 },
      service: { id: SERVICE_ID, name: "observer-service-1" },
      reason: "service-gone",
    },
    {
      ...NOTHING,
      at: "2026-11-20T09:20:11.002Z",
      kind: "attempt-failed",
      run: { id: RUN_ID, runNumber: 1 },
      service: { id: SERVICE_ID, name: "observer-service-1" },
      attempt: 1,
      text: "TimeoutError: no answer within 10000 ms",
    },
    {
      ...NOTHING,
      at: "2026-11-20T09:00:00.031Z",
      kind: "started",
      run: { id: RUN_ID, runNumber: 1 },
      service: { id: SERVICE_ID, name: "observer-service-1" },
    },
    { ...NOTHING, at: "2026-11-20T09:00:00.000Z", kind: "created", by: "anna" },
  ] satisfies TimelineEntry[],
  nextCursor: null,
} satisfies TimelinePage;
