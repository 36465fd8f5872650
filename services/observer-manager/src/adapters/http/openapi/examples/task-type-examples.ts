import type { TaskTypeList, TaskTypeView } from "@unacked/contracts";

export const LIMITED_TYPE = {
  type: "resize",
  paused: false,
  maxRunning: 7,
  minRunning: 0,
  ratePerSecond: 50,
  outside: false,
  inFlight: 7,
  services: 2,
  changedAt: "2026-11-20T09:00:00.000Z",
} satisfies TaskTypeView;

export const PAUSED_TYPE = { ...LIMITED_TYPE, paused: true, inFlight: 0 } satisfies TaskTypeView;

export const TASK_TYPES = { items: [LIMITED_TYPE], total: 1 } satisfies TaskTypeList;
