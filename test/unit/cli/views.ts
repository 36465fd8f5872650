import { DEFAULT_RETRY, type ObserverView, type RunView, type ServiceView } from "@unacked/contracts";

export const NOW_MS = Date.parse("2026-01-02T00:00:00.000Z");
const SERVICE_ID = "0197d5c0-0000-7000-8000-0000000000aa";

export const observerView = (changes: Partial<ObserverView> = {}): ObserverView => ({
  id: "0197d5c0-0000-7000-8000-000000000001",
  name: "my-ticker",
  type: "ticker",
  params: { everyMs: 1_000 },
  labels: {},
  pool: "default",
  retry: DEFAULT_RETRY,
  status: "Processing",
  service: { id: SERVICE_ID, name: "service-1" },
  currentRunId: "0197d5c0-0000-7000-8000-0000000000f1",
  revision: 1,
  epoch: 1,
  attempts: 0,
  lastError: null,
  nextAttemptAt: null,
  createdAt: "2026-01-01T23:00:00.000Z",
  modifiedAt: "2026-01-01T23:59:00.000Z",
  ...changes,
});

export const serviceView = (changes: Partial<ServiceView> = {}): ServiceView => ({
  id: SERVICE_ID,
  name: "service-1",
  pool: "default",
  state: "Alive",
  draining: false,
  drained: false,
  workerCount: 10,
  running: 4,
  free: 6,
  reportedRunning: 4,
  types: ["process", "ticker"],
  version: "0.1.0",
  host: "host-1",
  pid: 4711,
  generation: 1,
  heartbeatMs: 10_000,
  memoryBytes: 83_886_080,
  eventLoopLagMs: 3.4,
  startedAt: "2026-01-01T22:00:00.000Z",
  lastSeenAt: "2026-01-01T23:59:58.000Z",
  endedAt: null,
  endReason: null,
  brokerLoss: null,
  ...changes,
});

export const runView = (changes: Partial<RunView> = {}): RunView => ({
  id: "0197d5c0-0000-7000-8000-0000000000f1",
  observerId: "0197d5c0-0000-7000-8000-000000000001",
  service: { id: SERVICE_ID, name: "service-1" },
  epoch: 1,
  revision: 1,
  generation: 1,
  state: "Current",
  startedAt: "2026-01-01T23:00:00.000Z",
  endedAt: null,
  endReason: null,
  error: null,
  ...changes,
});
