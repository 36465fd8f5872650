import { expect, test, vi } from "vitest";
import type { ProcessParams } from "../../../observers/process/process-params.ts";
import { stopTimeOf } from "../../../observers/process/stop-time.ts";

const given = (stopTimeoutMs: number, serviceMs: string | undefined) => {
  const warn = vi.fn();
  const log = { debug: warn, info: warn, warn, error: warn };
  return {
    ms: stopTimeOf({ params: { stopTimeoutMs } as ProcessParams, log }, serviceMs),
    warnings: warn.mock.calls.length,
  };
};

test.each([
  [5_000, "25000", 5_000, 0],
  [20_000, "25000", 20_000, 0],
  [600_000, "25000", 20_000, 1],
  [600_000, "3600000", 600_000, 0],
  [5_000, "6000", 3_000, 1],
  [0, "100", 0, 0],
  [600_000, undefined, 600_000, 0],
  [5_000, "", 5_000, 0],
  [5_000, "8001", 4_000, 1],
])(
  "of %i ms, in a service that waits for %s, a command has %i for its stop, with %i warnings",
  (asked, serviceMs, ms, warnings) => {
    expect(given(asked, serviceMs)).toEqual({ ms, warnings });
  },
);
