import type { CreatedFlow, CreateFlow, FlowPage, FlowTaskPage, FlowView } from "@unacked/contracts";
import type { z } from "zod";

export const FLOW_ID = "01936f60-0b1c-7e5d-9f3a-4b6c8d0e2f71";

export const STAGES = { stages: ["fetch", "parse", "store"] } satisfies z.input<typeof CreateFlow>;

export const NEW_FLOW = {
  id: FLOW_ID,
  name: "nightly import",
  tasks: [
    { ref: "fetch", type: "fetch", params: { url: "https://example.org/orders.csv" } },
    { ref: "rates", type: "fetch", params: { url: "https://example.org/rates.csv" }, onFailure: "continue" },
    { ref: "parse", type: "parse", after: ["fetch", "rates"] },
    { ref: "store", type: "store", after: ["parse"], params: { table: "orders" } },
  ],
} satisfies z.input<typeof CreateFlow>;

export const FLOW_RUNNING = {
  id: FLOW_ID,
  name: "nightly import",
  status: "Running",
  cancelling: false,
  reason: null,
  run: 1,
  tasks: { total: 4, completed: 1, failed: 1, cancelled: 0 },
  createdAt: "2026-11-20T02:00:00.000Z",
  endedAt: null,
} satisfies FlowView;

export const FLOW_COMPLETED = {
  ...FLOW_RUNNING,
  status: "Completed",
  tasks: { total: 4, completed: 3, failed: 1, cancelled: 0 },
  endedAt: "2026-11-20T02:00:12.000Z",
} satisfies FlowView;

export const FLOW_FAILED = {
  ...FLOW_RUNNING,
  status: "Failed",
  reason: "fetch failed",
  tasks: { total: 4, completed: 1, failed: 1, cancelled: 2 },
  endedAt: "2026-11-20T02:00:08.000Z",
} satisfies FlowView;

export const FLOW_CANCELLING = { ...FLOW_RUNNING, cancelling: true, reason: "cancelled by anna" } satisfies FlowView;

export const FLOW_AGAIN = {
  ...FLOW_RUNNING,
  run: 2,
  tasks: { total: 4, completed: 1, failed: 0, cancelled: 0 },
} satisfies FlowView;

export const FLOW_CREATED = {
  ...FLOW_RUNNING,
  tasks: { total: 4, completed: 0, failed: 0, cancelled: 0 },
  outcome: "created",
} satisfies CreatedFlow;
export const FLOW_EXISTED = { ...FLOW_COMPLETED, outcome: "exists" } satisfies CreatedFlow;

export const FLOW_PAGE = { items: [FLOW_RUNNING], total: 1, isTotalExact: true, nextCursor: null } satisfies FlowPage;

const STEP = {
  pool: "default",
  onFailure: "fail",
  maxOutputBytes: 65_536,
  run: 1,
  waitsFor: 0,
  waitReason: null,
  reason: null,
  lastError: null,
  startedAt: null,
  endedAt: null,
} as const;

export const FLOW_TASK_PAGE = {
  items: [
    {
      ...STEP,
      ref: "fetch",
      taskId: "01936f60-0b1c-7e5d-9f3a-4b6c8d0e2f72",
      type: "fetch",
      after: [],
      status: "Completed",
      startedAt: "2026-11-20T02:00:00.020Z",
      endedAt: "2026-11-20T02:00:03.100Z",
    },
    {
      ...STEP,
      ref: "rates",
      taskId: "01936f60-0b1c-7e5d-9f3a-4b6c8d0e2f73",
      type: "fetch",
      after: [],
      onFailure: "continue",
      status: "Failed",
      lastError: { name: "Error", message: "example.org answered 404" },
      startedAt: "2026-11-20T02:00:00.020Z",
      endedAt: "2026-11-20T02:00:01.200Z",
    },
    {
      ...STEP,
      ref: "parse",
      taskId: "01936f60-0b1c-7e5d-9f3a-4b6c8d0e2f74",
      type: "parse",
      after: ["fetch", "rates"],
      status: "Running",
      startedAt: "2026-11-20T02:00:03.150Z",
    },
    {
      ...STEP,
      ref: "store",
      taskId: "01936f60-0b1c-7e5d-9f3a-4b6c8d0e2f75",
      type: "store",
      after: ["parse"],
      status: "Blocked",
      waitsFor: 1,
      waitReason: "flow",
    },
  ],
  total: 4,
  nextCursor: null,
} satisfies FlowTaskPage;
