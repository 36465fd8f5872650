import { type CreateTimer, type Instant, instantMs, type TimerId, type TimerView } from "@unacked/contracts";
import type { Refusal } from "../refusal.ts";
import type { CancelOutcome, NewTimer, PutOutcome } from "./timer-store.ts";
import type { TimerCancelOutcome, TimerPutOutcome } from "./timer-tools.ts";

export const newTimerOf = ({ id, name, payload, at, inMs, expiresAt }: CreateTimer): NewTimer => ({
  id,
  name,
  payload,
  at: at === undefined ? undefined : isoOf(at),
  inMs,
  expiresAt: expiresAt === undefined ? undefined : isoOf(expiresAt),
});

/** A text keeps its microseconds. */
const isoOf = (instant: Instant): string =>
  typeof instant === "string" ? instant : new Date(instantMs(instant)).toISOString();

/** The outcomes of all that were asked for, in that order; `outcomes` are those of the ones that were not refused. */
export function putOutcomesOf(
  requests: readonly (CreateTimer | Refusal)[],
  outcomes: readonly PutOutcome[],
): TimerPutOutcome[] {
  let next = 0;
  return requests.map((one) => ("kind" in one ? one : answerOf(outcomes[next++] as PutOutcome)));
}

const EXPIRES_FIRST = { pointer: "/expiresAt", message: "must be later than `inMs` from now, by the database's clock" };

/** Something may be due earlier. */
export const isTimerChange = ({ kind }: PutOutcome): boolean => kind === "created" || kind === "replaced";

function answerOf(outcome: PutOutcome): TimerPutOutcome {
  switch (outcome.kind) {
    case "over":
      return { kind: "problem", code: "timer-over" };
    case "taken":
      return { kind: "problem", code: "id-taken", detail: "This id belongs to a timer of others" };
    case "in-vain":
      return { kind: "problem", code: "invalid-body", errors: [EXPIRES_FIRST] };
    default:
      return outcome;
  }
}

/** The same for cancels. @param again how one that came back just now is cancelled once more */
export function cancelOutcomesOf(
  requests: readonly ({ id: TimerId } | Refusal)[],
  outcomes: readonly CancelOutcome[],
  again?: string,
): TimerCancelOutcome[] {
  let next = 0;
  return requests.map((one) => ("kind" in one ? one : cancelOutcomeOf(outcomes[next++] as CancelOutcome, again)));
}

export function cancelOutcomeOf(outcome: CancelOutcome, again = "try again to cancel it"): TimerCancelOutcome {
  if (outcome.kind === "not-found") return { kind: "problem", code: "timer-not-found" };
  const { timer } = outcome;
  switch (timer.status) {
    case "Cancelled": // also one that was before: safe to repeat
      return { kind: "cancelled", timer };
    case "Firing":
    case "Fired":
      return { kind: "problem", code: "already-fired", detail: detailOf(timer) };
    case "Expired":
      return { kind: "problem", code: "timer-over", detail: `It expired at ${timer.endedAt}` };
    case "Waiting": // it was Firing a moment ago, and came back
      return { kind: "problem", code: "already-fired", detail: `No queue has taken it so far; ${again}` };
    default:
      return timer.status satisfies never;
  }
}

const detailOf = ({ status, endedAt }: TimerView): string =>
  status === "Fired" ? `It fired at ${endedAt}` : "It is being fired, or has been";
