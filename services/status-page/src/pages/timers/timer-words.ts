import { TIMER_PROBLEM_MEANINGS, type TimerView } from "@unacked/contracts";
import { sayAge, sayAgo, sayAway, sayMany } from "../../parts/say.ts";

/** How far its time is away, or was: `in 2 h 5 min`, `due for 4 s`, `3 d ago`; one that is cancelled has none any more. */
export function sayWhen({ at, status }: Pick<TimerView, "at" | "status">, nowMs: number): string {
  const leftMs = Date.parse(at) - nowMs;
  if (status === "Cancelled") return "never";
  if (status === "Fired" || status === "Expired") return sayAgo(-leftMs);
  return leftMs > 0 ? sayAway(leftMs) : `due for ${sayAge(-leftMs)}`;
}

/** What went wrong at its last try; empty: nothing has. */
export function sayProblem({ lastProblem, returns }: Pick<TimerView, "lastProblem" | "returns">): string {
  if (lastProblem === null) return "";
  const meaning = TIMER_PROBLEM_MEANINGS[lastProblem];
  return returns === 0 ? meaning : `${meaning}, ${sayMany(returns, "time")}`;
}
