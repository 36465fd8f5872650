import type { BatchResults, BulkCount, BulkResults, ObserverReceipts } from "@unacked/contracts";
import { CREATED, MINIMAL, NEW_OBSERVER, ON_DELETING, PAUSED, PAUSING, RESUMED, SENT_AGAIN } from "./observer-examples.ts";
import { problemExample } from "./problem-examples.ts";

/** The results for NEW_OBSERVER and MINIMAL. */
export const BATCH_RESULTS = {
  results: [
    { status: 201, observer: CREATED },
    { status: 409, problem: problemExample("name-taken") },
  ],
} satisfies BatchResults;

export const OBSERVER_RECEIPTS = {
  results: [
    { status: 201, observer: { id: CREATED.id, name: CREATED.name } },
    { status: 409, problem: problemExample("name-taken") },
  ],
} satisfies ObserverReceipts;

export const BATCH = {
  observers: [NEW_OBSERVER, { ...MINIMAL, whenFull: "queue" as const }],
};

export const STOP_RESULTS = {
  results: [
    { ref: "shop-front", status: 202, observer: ON_DELETING },
    { ref: "nobody", status: 404, problem: problemExample("observer-not-found") },
  ],
} satisfies BulkResults;

export const RESTART_RESULTS = {
  results: [
    { ref: "shop-front", status: 202, observer: SENT_AGAIN },
    { ref: "heartbeat", status: 409, problem: problemExample("not-restartable") },
  ],
} satisfies BulkResults;

export const PAUSE_RESULTS = {
  results: [
    { ref: "shop-front", status: 202, observer: PAUSING },
    { ref: "heartbeat", status: 200, observer: { ...PAUSED, name: "heartbeat" } },
  ],
} satisfies BulkResults;

export const RESUME_RESULTS = {
  results: [
    { ref: "shop-front", status: 202, observer: RESUMED },
    { ref: "heartbeat", status: 503, problem: problemExample("no-free-worker") },
  ],
} satisfies BulkResults;

export const PAUSE_COUNT = { matched: 40, accepted: 39, refused: { "not-pausable": 1 } } satisfies BulkCount;
export const RESUME_COUNT = { matched: 39, accepted: 38, refused: { "no-free-worker": 1 } } satisfies BulkCount;
export const STOP_COUNT = { matched: 200, accepted: 197, refused: { "not-activated": 3 } } satisfies BulkCount;
export const RESTART_COUNT = { matched: 17, accepted: 17, refused: {} } satisfies BulkCount;
