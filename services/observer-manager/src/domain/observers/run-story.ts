import { withoutHoles } from "@unacked/contracts";

/** What happened in a run between its start and its end. Times are its service's clock. */
export type RunStep =
  | { kind: "attempt-failed"; atMs: number; attempt: number; text: string }
  | { kind: "silent"; atMs: number; text: string }
  | { kind: "heard"; atMs: number }
  | { kind: "updated" | "rejected"; atMs: number; text: string };

/** The newest of a run; a run that fails and fails again is told by its last ones. */
const MAX_STEPS = 20;
const MAX_TEXT = 500;

export function tellStep(run: { story: readonly RunStep[] }, step: RunStep): void {
  // Cut in the middle of a character, it would be no JSON that the books can keep.
  const short = "text" in step ? { ...step, text: withoutHoles(step.text.slice(0, MAX_TEXT)) } : step;
  run.story = [...run.story, short].slice(-MAX_STEPS);
}
