import {
  isNonRetryable,
  type ObserverDefinition,
  outputJson,
  type RunOutcome,
  SdkError,
  type TaskDefinition,
} from "@unacked/sdk";
import type { TaskWord } from "../wire/attempt.ts";

/** One attempt of a task, in the form in which handlers are entered. @param keep told what it returned, checked, as JSON */
export function asHandler(definition: TaskDefinition, attempt: number, keep: (output: string) => void): ObserverDefinition {
  const { type, params } = definition;
  return {
    type,
    params,
    async run({ params: given, signal, log, observer }) {
      const value = await definition.run({ params: given, signal, log, attempt, taskId: observer.id });
      if (!signal.aborted) keep(outputJson(definition, value));
    },
  };
}

/** What its end says beside the outcome; nothing of an observer's. */
export function wordOf(outcome: RunOutcome, output: string | undefined): TaskWord {
  if (outcome.outcome === "completed") return output === undefined ? {} : { output };
  return outcome.outcome === "failed" && isFinal(outcome.error) ? { isFinal: true } : {};
}

const isFinal = (error: Error): boolean =>
  isNonRetryable(error) || (error instanceof SdkError && error.code === "invalid-output");
