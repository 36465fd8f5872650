import type { ObserverLogs } from "@unacked/contracts";
import { PROCESSING, SERVICE_ID } from "./observer-examples.ts";

const RUN = { id: PROCESSING.currentRunId, service: { id: SERVICE_ID, name: "observer-service-1" }, isCurrent: true };

export const LOGS = {
  observer: { id: PROCESSING.id, name: PROCESSING.name },
  status: "Processing",
  run: RUN,
  entries: [
    {
      kind: "log",
      seq: 41,
      at: "2026-11-20T09:40:58.012Z",
      cut: false,
      level: "warn",
      message: "slow answer",
      fields: { tookMs: 4_210 },
    },
    {
      kind: "emit",
      seq: 42,
      at: "2026-11-20T09:40:58.013Z",
      cut: false,
      value: { status: 503, previous: 200, at: "2026-11-20T09:40:58.012Z" },
    },
  ],
  omitted: 40,
  reason: null,
  lastError: null,
} satisfies ObserverLogs;

export const NO_LOGS = {
  observer: { id: PROCESSING.id, name: PROCESSING.name },
  status: "Created",
  run: null,
  entries: [],
  omitted: 0,
  reason: "no-run",
  lastError: null,
} satisfies ObserverLogs;

/** The beginning of a stream. */
export const LOG_STREAM = `retry: 1000

event: run
data: ${JSON.stringify(RUN)}

event: entry
id: ${RUN.id}.42
data: ${JSON.stringify(LOGS.entries[1])}

`;
