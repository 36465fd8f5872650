import { followersOf } from "./circle.ts";
import { type EndedStep, isPassed, reasonOf } from "./flow-progress.ts";

/** A task of a flow that is over. */
export interface RunStep extends Omit<EndedStep, "flowId"> {
  after: readonly string[];
}

/** What runs again; each with how many of what it comes after run again, too. */
export interface Rerun {
  again: { ref: string; waiting: number }[];
  /** Why the flow is going to be Failed whatever becomes of these: a task that stays as it is says why. */
  reason: string | null;
}

/** @param from undefined: all that did not complete. @returns why it cannot be, in words */
export function rerunOf(steps: readonly RunStep[], from: readonly string[] | undefined): Rerun | { refused: string } {
  const byRef = new Map(steps.map((step) => [step.ref, step]));
  const unknown = from?.find((ref) => !byRef.has(ref));
  if (unknown !== undefined) return { refused: `There is no task "${unknown}" in this flow` };
  const starts = from ?? steps.filter(({ status }) => status !== "Completed").map(({ ref }) => ref);
  if (starts.length === 0) return { refused: "All of it has completed: say from where it is to run again" };
  const again = behind(starts, followersOf(steps));
  for (const ref of again)
    for (const before of byRef.get(ref)?.after ?? []) {
      const step = byRef.get(before);
      if (step === undefined || again.has(before) || isPassed(step)) continue;
      return { refused: `"${ref}" comes after "${before}", which is ${step.status}: begin there` };
    }
  const stays = steps.find((step) => !again.has(step.ref) && !isPassed(step));
  return {
    again: steps.flatMap(({ ref, after }) =>
      again.has(ref) ? [{ ref, waiting: after.filter((before) => again.has(before)).length }] : [],
    ),
    reason: stays === undefined ? null : reasonOf(stays),
  };
}

/** These, and all that comes after them. */
function behind(starts: readonly string[], followers: ReadonlyMap<string, readonly string[]>): Set<string> {
  const found = new Set(starts);
  for (const ref of found) for (const follower of followers.get(ref) ?? []) found.add(follower); // a set is walked to what is added, too
  return found;
}
