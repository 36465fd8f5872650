import {
  BatchResults,
  CreateObserver,
  CreateObservers,
  MAX_BATCH_BODY_BYTES,
  MAX_BULK,
  MAX_PARAMS_BYTES,
  PROBLEMS,
} from "@unacked/contracts";
import { z } from "zod";
import type { CreateOutcome, Lifecycle, Refusal } from "../../flows/manager-api.ts";
import { answer } from "./call-description.ts";
import { BATCH, BATCH_RESULTS } from "./examples/bulk-examples.ts";
import { bodyProblems } from "./field-problems.ts";
import { HttpProblem, toProblemDetails } from "./http-problem.ts";
import { checkJson } from "./request-input.ts";
import { BODY_PROBLEMS, defineRoute } from "./route.ts";

/** Of the body itself: what is in the list is looked at one by one. */
const Envelope = CreateObservers.extend({ observers: z.array(z.unknown()).min(1).max(MAX_BULK) });

export const batchRoute = (lifecycle: Lifecycle) =>
  defineRoute({
    ...{
      method: "post",
      path: "/api/v1/observers/batch",
      tag: "Observers",
      operationId: "createObservers",
      summary: "Create up to 10,000 observers, each answered for itself",
    },
    access: "operator",
    body: CreateObservers,
    bodyLimitBytes: MAX_BATCH_BODY_BYTES,
    bodyExamples: { "Each for itself": BATCH, "All or none": { ...BATCH, atomic: true } },
    readBody: readBatch,
    answers: {
      200: answer("What became of each, in the order given", BatchResults, { "One accepted, one refused": BATCH_RESULTS }),
    },
    problems: [...BODY_PROBLEMS, "not-ready", "cross-origin"],
    itemProblems: [
      ...(["invalid-body", "body-too-large", "name-taken", "id-taken", "batch-refused"] as const),
      ...(["unknown-type", "no-free-worker", "batch-interrupted"] as const),
    ],
    async handle({ body: { observers, atomic }, requestId, by }) {
      const outcomes = await lifecycle.createObservers(observers, { atomic }, by);
      if ("kind" in outcomes) return outcomes;
      return { status: 200, body: { results: outcomes.map((outcome) => resultOf(outcome, requestId)) } };
    },
  });

function resultOf(outcome: CreateOutcome, requestId: string): BatchResults["results"][number] {
  if (outcome.kind !== "problem") return { status: outcome.kind === "created" ? 201 : 200, observer: outcome.observer };
  return { status: PROBLEMS[outcome.code].status, problem: toProblemDetails(outcome, requestId) };
}

/** Throws HttpProblem where the body itself is wrong; an observer that is wrong stands as its refusal. */
function readBatch(given: unknown): { observers: (CreateObserver | Refusal)[]; atomic: boolean } {
  const envelope = Envelope.safeParse(given);
  if (!envelope.success) throw new HttpProblem({ code: "invalid-body", errors: bodyProblems(envelope.error.issues) });
  const { observers, atomic } = envelope.data;
  return { observers: observers.map(readObserver), atomic };
}

function readObserver(given: unknown): CreateObserver | Refusal {
  const checked = checkJson(CreateObserver, given);
  if (!checked.ok) return checked.refusal;
  const isTooLarge = Buffer.byteLength(JSON.stringify(checked.value.params)) > MAX_PARAMS_BYTES;
  return isTooLarge ? { kind: "problem", code: "body-too-large", detail: "The params are too large" } : checked.value;
}
