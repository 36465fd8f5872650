import type { BatchResults, BulkCount, BulkResults } from "@unacked/contracts";
import { CREATED, MINIMAL, NEW_OBSERVER, ON_DELETING, SENT_AGAIN } from "./observer-examples.ts";
import { problemExample } from "./problem-examples.ts";

/** Of NEW_OBSERVER and MINIMAL. */
export const BATCH_RESULTS = {
  results: [
    { status: 201, observer: CREATED },
    { status: 409, problem: problemExample("name-taken") },
  ],
} satisfies BatchResults;

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

export const STOP_COUNT = { matched: 200, accepted: 197, refused: { "not-activated": 3 } } satisfies BulkCount;
export const RESTART_COUNT = { matched: 17, accepted: 17, refused: {} } satisfies BulkCount;
