import { CancelTimersEnvelope, TimerId } from "@unacked/contracts";
import { bodyProblems } from "../../domain/field-problems.ts";
import { type RequestUser, whyNoTimer, whyNotAllowed } from "../../domain/requests/request-users.ts";
import type { Refusal } from "../refusal.ts";
import { readBatch } from "../tasks/creations/task-batch.ts";
import { readTimerBatch } from "../timers/timer-batch.ts";
import type { Wanted } from "./request.ts";

/** A parsed body: refused as a whole, or what is wanted. `tasks`, `timers` or `cancelTimers` says what it is. */
export function readWanted(given: unknown): { ok: true; read: Wanted } | { ok: false; refusal: Refusal } {
  if (has(given, "timers")) {
    const batch = readTimerBatch(given);
    return batch.ok ? { ok: true, read: { kind: "timers", wanted: batch.timers } } : batch;
  }
  if (has(given, "cancelTimers")) return readCancels(given);
  const batch = readBatch(given);
  return batch.ok ? { ok: true, read: { kind: "tasks", wanted: batch.tasks } } : batch;
}

const has = (given: unknown, field: string): boolean =>
  typeof given === "object" && given !== null && Object.hasOwn(given, field);

function readCancels(given: unknown): ReturnType<typeof readWanted> {
  const envelope = CancelTimersEnvelope.safeParse(given);
  if (!envelope.success) return { ok: false, refusal: invalid(envelope.error.issues) };
  const seen = new Set<string>();
  const wanted = envelope.data.cancelTimers.map((one): { id: TimerId } | Refusal => {
    const id = TimerId.safeParse(one);
    if (!id.success) return invalid(id.error.issues);
    if (seen.has(id.data))
      return { kind: "problem", code: "invalid-body", errors: [{ pointer: "", message: "is here twice" }] };
    seen.add(id.data);
    return { id: id.data };
  });
  return { ok: true, read: { kind: "timer-cancels", wanted } };
}

const invalid = (issues: Parameters<typeof bodyProblems>[0]): Refusal => ({
  kind: "problem",
  code: "invalid-body",
  errors: bodyProblems(issues),
});

/**
 * What this user may not have is in it as its refusal. Whose a timer is that is to be cancelled, or met, is looked at where it is found.
 */
export function allowed(name: string, user: RequestUser, { kind, wanted }: Wanted): Wanted {
  switch (kind) {
    case "tasks":
      return { kind, wanted: wanted.map((one) => ("kind" in one ? one : orForbidden(one, whyNotAllowed(name, user, one)))) };
    case "timers":
      return {
        kind,
        wanted: wanted.map((one) => ("kind" in one ? one : orForbidden(one, whyNoTimer(name, user, one.name)))),
      };
    case "timer-cancels":
      return { kind, wanted: wanted.map((one) => ("kind" in one ? one : orForbidden(one, whyNoTimer(name, user)))) };
    default:
      return kind satisfies never;
  }
}

const orForbidden = <T>(one: T, detail: string | undefined): T | Refusal =>
  detail === undefined ? one : { kind: "problem", code: "forbidden", detail, remedy: ASK_FOR_IT };

/** Who asks over AMQP has no token. */
export const ASK_FOR_IT = "Ask the operator of the manager to allow it to this user of the broker (REQUEST_USERS).";
