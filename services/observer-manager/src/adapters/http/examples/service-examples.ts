import type { ServiceList, ServiceView, TypeList } from "@unacked/contracts";
import { SERVICE_ID } from "./observer-examples.ts";

export const SERVICE = {
  id: SERVICE_ID,
  name: "observer-service-1",
  pool: "default",
  state: "Alive",
  draining: false,
  drained: false,
  workerCount: 10,
  running: 7,
  free: 3,
  reportedRunning: 7,
  types: ["http-poll", "ticker"],
  version: "0.1.0",
  host: "node-3",
  pid: 2025,
  generation: 1,
  heartbeatMs: 10_000,
  memoryBytes: 96_468_992,
  eventLoopLagMs: 1.4,
  startedAt: "2026-11-20T08:59:58.100Z",
  lastSeenAt: "2026-11-20T09:41:05.204Z",
  endedAt: null,
  endReason: null,
  brokerLoss: null,
} satisfies ServiceView;

export const DRAINING_SERVICE = { ...SERVICE, draining: true, free: 0 } satisfies ServiceView;

export const DRAINED_SERVICE = {
  ...DRAINING_SERVICE,
  drained: true,
  running: 0,
  reportedRunning: 0,
} satisfies ServiceView;

export const SERVICES = { items: [SERVICE], total: 1 } satisfies ServiceList;

export const TYPES = {
  items: [
    {
      type: "ticker",
      description: "Emits a counter at a steady pace: the smallest observer, to see that things move.",
      paramsSchema: {
        $schema: "https://json-schema.org/draft/2020-12/schema",
        type: "object",
        properties: {
          everyMs: {
            description: "Milliseconds from one event to the next, 10 to 86,400,000 (a day).",
            type: "integer",
            minimum: 10,
            maximum: 86_400_000,
            default: 1_000,
          },
        },
        additionalProperties: false,
      },
      services: ["observer-service-1", "observer-service-2"],
      pools: ["default"],
    },
  ],
  total: 1,
} satisfies TypeList;
