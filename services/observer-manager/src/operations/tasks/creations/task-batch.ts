import {
  CreateTask,
  CreateTasksEnvelope,
  MAX_PARAMS_BYTES,
  type TaskBatchResults,
  type TaskReceipts,
} from "@unacked/contracts";
import { bodyProblems, type ToldFields, toldFields } from "../../../domain/field-problems.ts";
import { jsonCheck } from "../../../domain/json-check.ts";
import { refuser } from "../../problem-details.ts";
import type { Refusal } from "../../refusal.ts";
import type { TaskCreateOutcome } from "../task-tools.ts";

/** A parsed body of many creations: refused as a whole, or a list in which a task that is wrong stands as its refusal. */
export function readBatch(given: unknown): { ok: true; tasks: (CreateTask | Refusal)[] } | { ok: false; refusal: Refusal } {
  const envelope = CreateTasksEnvelope.safeParse(given);
  if (!envelope.success)
    return { ok: false, refusal: { kind: "problem", code: "invalid-body", errors: bodyProblems(envelope.error.issues) } };
  const told = toldFields();
  return { ok: true, tasks: envelope.data.tasks.map((task) => readOne(task, told)) };
}

function readOne(task: unknown, told: ToldFields): CreateTask | Refusal {
  const checked = jsonCheck(CreateTask, task, MAX_PARAMS_BYTES, told);
  if (!checked.ok) return { kind: "problem", code: "invalid-body", errors: checked.errors };
  const isTooLarge = Buffer.byteLength(JSON.stringify(checked.value.params)) > MAX_PARAMS_BYTES;
  return isTooLarge ? { kind: "problem", code: "body-too-large", detail: "The params are too large" } : checked.value;
}

/** The same answer, as receipts. */
export function batchReceipts(outcomes: readonly TaskCreateOutcome[], requestId: string): TaskReceipts {
  const refuse = refuser(requestId);
  return {
    results: outcomes.map((outcome) =>
      outcome.kind === "problem"
        ? refuse(outcome)
        : { status: statusOf(outcome), task: { id: outcome.id, outcome: outcome.kind } },
    ),
  };
}

/** The answer, in the order given. (Assigned, so that its tasks have one hidden class: docs/performance-budget.md.) */
export function batchResults(outcomes: readonly TaskCreateOutcome[], requestId: string): TaskBatchResults {
  const refuse = refuser(requestId);
  return {
    results: outcomes.map((outcome) =>
      outcome.kind === "problem"
        ? refuse(outcome)
        : { status: statusOf(outcome), task: Object.assign({}, outcome.task(), { outcome: outcome.kind }) },
    ),
  };
}

const statusOf = ({ kind }: Exclude<TaskCreateOutcome, Refusal>): number => (kind === "created" ? 201 : 200);
