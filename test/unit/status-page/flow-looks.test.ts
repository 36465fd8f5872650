import type { FlowView } from "@unacked/contracts";
import { expect, it } from "vitest";
import { flowMs } from "../../../services/status-page/src/store/flow-looks.ts";

const at = (s: number): string => new Date(s * 1_000).toISOString();
const flow = (asked: Pick<FlowView, "run" | "endedAt">): FlowView =>
  ({ createdAt: at(100), status: "Running", ...asked }) as FlowView;

it("A flow has taken the time from its creation on; one that was run again did not run all the while between", () => {
  expect(flowMs(flow({ run: 1, endedAt: null }), 160_000)).toBe(60_000);
  expect(flowMs(flow({ run: 1, endedAt: at(130) }), 160_000)).toBe(30_000);
  expect(flowMs(flow({ run: 1, endedAt: null }), 99_000)).toBe(0); // by a clock that is behind
  expect(flowMs(flow({ run: 2, endedAt: null }), 160_000)).toBeNull();
  expect(flowMs(flow({ run: 2, endedAt: at(130) }), 160_000)).toBeNull();
});
