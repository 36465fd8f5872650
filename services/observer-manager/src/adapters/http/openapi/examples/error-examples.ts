import {
  type ErrorEntry,
  type ErrorGroupList,
  type ErrorPage,
  noneOfEachStatus,
  type ObserverErrors,
} from "@unacked/contracts";
import { FAILED, SERVICE_ID } from "./observer-examples.ts";

export const ERROR_ENTRY = {
  id: "42",
  reason: "retries-used-up",
  detail: "TimeoutError: no answer within 10000 ms",
  group: "TimeoutError: no answer within <n> ms",
  queue: "unacked.work.default",
  observerId: FAILED.id,
  observerName: FAILED.name,
  runId: "01936f5e-3ca1-7f2a-b3d4-0c1e2f3a4b5c",
  reporter: SERVICE_ID,
  body: '{"kind":"StartObserver","name":"shop-front","type":"http-poll"}',
  bodyBytes: 62,
  at: "2026-11-20T09:41:07.510Z",
} satisfies ErrorEntry;

export const ERROR_PAGE = { items: [ERROR_ENTRY], total: 1, nextCursor: null } satisfies ErrorPage;

export const ERROR_GROUPS = {
  items: [
    {
      reason: ERROR_ENTRY.reason,
      group: ERROR_ENTRY.group,
      count: 17,
      firstSeenAt: "2026-11-20T09:40:58.003Z",
      lastSeenAt: ERROR_ENTRY.at,
      exampleId: ERROR_ENTRY.id,
    },
  ],
  total: 1,
} satisfies ErrorGroupList;

export const OBSERVER_ERRORS = {
  items: [
    {
      group: ERROR_ENTRY.group,
      total: 19,
      byStatus: { ...noneOfEachStatus(), Retrying: 2, Failed: 17 },
      firstSeenAt: "2026-11-20T09:40:57.871Z",
      lastSeenAt: FAILED.lastError.at,
      example: { id: FAILED.id, name: FAILED.name, status: FAILED.status, lastError: FAILED.lastError },
    },
  ],
  total: 1,
} satisfies ObserverErrors;
