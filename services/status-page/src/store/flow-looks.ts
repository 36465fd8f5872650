import type { FlowStatusName, FlowView } from "@unacked/contracts";
import type { Tone } from "./statuses.ts";

/** In the order in which they are shown. A status that the contracts gain is missing here, and does not compile. */
export const FLOW_LOOKS: Record<FlowStatusName, { tone: Tone; sign: string; meaning: string }> = {
  Running: { tone: "good", sign: "●", meaning: "some of its tasks are not over" },
  Failed: { tone: "bad", sign: "✕", meaning: "a task failed that others need" },
  Cancelled: { tone: "over", sign: "○", meaning: "somebody has cancelled it whole" },
  Completed: { tone: "over", sign: "✓", meaning: "all that had to be done is done" },
};

export const FLOW_SHOWN = Object.keys(FLOW_LOOKS) as FlowStatusName[];

export const canCancelFlow = ({ status, cancelling }: FlowView): boolean => status === "Running" && !cancelling;

/** Only one that is over runs again. */
export const canRerunFlow = ({ status }: FlowView): boolean => status !== "Running";

/** For how long it has been under way, or was; null: it was run again, and its times are of more than that. */
export const flowMs = ({ run, createdAt, endedAt }: FlowView, nowMs: number): number | null =>
  run > 1 ? null : Math.max(0, (endedAt === null ? nowMs : Date.parse(endedAt)) - Date.parse(createdAt));

/** How much of it is over, in parts of all its tasks. */
export function partsOf({ tasks: { total, completed, failed, cancelled } }: FlowView): { tone: Tone; part: number }[] {
  const part = (count: number): number => (total === 0 ? 0 : count / total);
  return [
    { tone: "good", part: part(completed) },
    { tone: "bad", part: part(failed) },
    { tone: "over", part: part(cancelled) },
  ];
}

const COUNT = new Intl.NumberFormat();

/** The same in words. */
export function sayProgress({ tasks: { total, completed, failed, cancelled } }: FlowView): string {
  const others = [
    ...(failed === 0 ? [] : [`${COUNT.format(failed)} failed`]),
    ...(cancelled === 0 ? [] : [`${COUNT.format(cancelled)} cancelled`]),
  ];
  return [`${COUNT.format(completed)} of ${COUNT.format(total)} done`, ...others].join(", ");
}
