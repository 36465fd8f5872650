import {
  CreateTimer,
  CreateTimersEnvelope,
  MAX_PARAMS_BYTES,
  MAX_TIMER_PAYLOAD_BYTES,
  type PutTimer,
  type TimerBatchResults,
  type TimerCancelResults,
} from "@unacked/contracts";
import { bodyProblems, type ToldFields, toldFields } from "../../domain/field-problems.ts";
import { bytesOfJsonb } from "../../domain/json-bytes.ts";
import { jsonCheck } from "../../domain/json-check.ts";
import { refusedOne } from "../problem-details.ts";
import type { Refusal } from "../refusal.ts";
import type { TimerCancelOutcome, TimerPutOutcome } from "./timer-tools.ts";

/** A parsed body of many timers: refused as a whole, or a list in which one that is wrong stands as its refusal. */
export function readTimerBatch(
  given: unknown,
): { ok: true; timers: (CreateTimer | Refusal)[] } | { ok: false; refusal: Refusal } {
  const envelope = CreateTimersEnvelope.safeParse(given);
  if (!envelope.success)
    return { ok: false, refusal: { kind: "problem", code: "invalid-body", errors: bodyProblems(envelope.error.issues) } };
  const seen = new Set<string>();
  const told = toldFields();
  return { ok: true, timers: envelope.data.timers.map((one) => readOne(one, seen, told)) };
}

function readOne(given: unknown, seen: Set<string>, told: ToldFields): CreateTimer | Refusal {
  const checked = jsonCheck(CreateTimer, given, MAX_PARAMS_BYTES, told);
  if (!checked.ok) return { kind: "problem", code: "invalid-body", errors: checked.errors };
  const { id } = checked.value;
  const isTwice = seen.has(id);
  seen.add(id);
  // Nobody could say which of the two would hold.
  if (isTwice) return { kind: "problem", code: "invalid-body", errors: [{ pointer: "/id", message: "is here twice" }] };
  return payloadRefusal(checked.value) ?? checked.value;
}

/** Measures the payload as it will be in its message, which is what PostgreSQL gives: a claim has five hundred of them in hand. */
export function payloadRefusal({ payload }: Pick<PutTimer, "payload">): Refusal | undefined {
  if (bytesOfJsonb(payload) <= MAX_TIMER_PAYLOAD_BYTES) return undefined;
  return {
    kind: "problem",
    code: "body-too-large",
    detail: `The payload is over ${MAX_TIMER_PAYLOAD_BYTES} bytes of JSON, with all digits of its numbers`,
  };
}

/** The answer, in the order given. */
export function timerBatchResults(outcomes: readonly TimerPutOutcome[], requestId: string): TimerBatchResults {
  return {
    results: outcomes.map((outcome) =>
      outcome.kind === "problem"
        ? refusedOne(outcome, requestId)
        : { status: outcome.kind === "created" ? 201 : 200, timer: { ...outcome.timer, outcome: outcome.kind } },
    ),
  };
}

export function timerCancelResults(outcomes: readonly TimerCancelOutcome[], requestId: string): TimerCancelResults {
  return {
    results: outcomes.map((outcome) =>
      outcome.kind === "problem" ? refusedOne(outcome, requestId) : { status: 200, timer: outcome.timer },
    ),
  };
}
