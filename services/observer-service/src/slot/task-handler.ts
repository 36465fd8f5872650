import type { TaskInput } from "@unacked/contracts";
import {
  isNonRetryable,
  type ObserverDefinition,
  type Postponement,
  type RunOutcome,
  SdkError,
  type TaskDefinition,
} from "@unacked/sdk";
import { Creations, handlerOf, inputsOf, isEmergencyAttempt, outputJson, Postponing } from "@unacked/sdk/host";
import type { TaskWord } from "../wire/attempt.ts";

/** One attempt of a task, in the form in which handlers are entered. `keep` is told what its end is to say, checked */
export function asHandler(
  definition: TaskDefinition,
  { attempt, inputs }: { attempt: number; inputs: readonly TaskInput[] | undefined },
  parts: { typeOf(type: string): TaskDefinition | undefined; keep(word: TaskWord): void },
): ObserverDefinition {
  const { typeOf, keep } = parts;
  const { type, params } = definition;
  const emergency = isEmergencyAttempt(definition, attempt) ? { isEmergency: true } : {};
  return {
    type,
    params,
    async run({ params: given, signal, log, observer }) {
      const postponing = new Postponing();
      const creations = new Creations(typeOf);
      try {
        const { postpone } = postponing;
        const context = {
          params: given,
          attempt,
          taskId: observer.id,
          signal,
          log,
          postpone,
          tasks: creations,
          ...inputsOf(definition, inputs),
        };
        const value = await handlerOf(definition, attempt).run(context);
        if (postponing.asked === undefined && !signal.aborted) {
          const output = outputJson(definition, value);
          const created = creations.json.length === 0 ? {} : { creations: creations.json };
          keep({ ...emergency, ...created, output });
        }
      } catch (thrown) {
        if (postponing.asked === undefined) throw thrown;
      } finally {
        creations.close();
      }
      if (postponing.asked !== undefined) keep({ postponement: toWire(postponing.asked) });
    },
  };
}

/** What its end says beside the outcome; nothing of an observer's. @param kept by its handler */
export function wordOf(outcome: RunOutcome, kept: TaskWord | undefined): TaskWord {
  if (kept?.postponement !== undefined) return kept;
  if (outcome.outcome === "completed") return kept ?? {};
  return outcome.outcome === "failed" && isFinal(outcome.error) ? { isFinal: true } : {};
}

const toWire = ({ reason, ...when }: Postponement): NonNullable<TaskWord["postponement"]> =>
  "at" in when ? { at: when.at.getTime(), reason } : { inMs: when.inMs, reason };

/** Whether a retry would not help. Never throws: the value is the author's own, and may be a proxy. */
export function isFinal(error: unknown): boolean {
  try {
    return isNonRetryable(error) || (error instanceof SdkError && FINAL.has(error.code));
  } catch {
    return false;
  }
}

const FINAL: ReadonlySet<string> = new Set(["invalid-output", "missing-input"]);
