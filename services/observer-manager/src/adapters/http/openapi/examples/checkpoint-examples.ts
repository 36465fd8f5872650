import type { CheckpointView } from "@unacked/contracts";

const BEFORE = { number: 41, value: { sequence: 4_646 }, savedAt: "2026-01-01T00:00:09.000Z" };

export const CHECKPOINT = {
  number: 42,
  value: { sequence: 4_710 },
  savedAt: "2026-01-01T00:00:10.000Z",
  runId: "0197d5c0-0000-7000-8000-0000000000f1",
  previous: BEFORE,
} satisfies CheckpointView;

export const SET_CHECKPOINT = {
  number: 43,
  value: { sequence: 4_711 },
  savedAt: "2026-01-01T00:01:00.000Z",
  runId: null,
  previous: { number: 42, value: { sequence: 4_710 }, savedAt: CHECKPOINT.savedAt },
} satisfies CheckpointView;

export const RESET_CHECKPOINT = { ...SET_CHECKPOINT, number: 0, value: null } satisfies CheckpointView;
