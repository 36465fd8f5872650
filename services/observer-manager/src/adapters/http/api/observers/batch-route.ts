import {
  BatchResults,
  CreateObserver,
  CreateObservers,
  MAX_BULK,
  MAX_PARAMS_BYTES,
  type ObserverReceipts,
} from "@unacked/contracts";
import { z } from "zod";
import { bodyProblems, type ToldFields, toldFields } from "../../../../domain/field-problems.ts";
import { jsonCheck } from "../../../../domain/json-check.ts";
import type { CreateOutcome, Lifecycle } from "../../../../operations/observers/observer-tools.ts";
import { refuser } from "../../../../operations/problem-details.ts";
import type { Refusal } from "../../../../operations/refusal.ts";
import { BATCH, BATCH_RESULTS, OBSERVER_RECEIPTS } from "../../openapi/examples/bulk-examples.ts";
import { HttpProblem } from "../http-problem.ts";
import { defineRoute } from "../route.ts";

/** The body as a whole; the items of its list are checked one by one. */
const Envelope = CreateObservers.extend({ observers: z.array(z.unknown()).min(1).max(MAX_BULK) });

export const batchRoute = (lifecycle: Lifecycle) =>
  defineRoute(
    "createObservers",
    readBatch,
  )({
    tag: "Observers",
    summary: "Create up to 10,000 observers, each answered for itself",
    bodyExamples: { "Each for itself": BATCH, "All or none": { ...BATCH, atomic: true } },
    answers: {
      200: {
        description: "What became of each, in the order given",
        examples: { "One accepted, one refused": BATCH_RESULTS },
        receipts: { "The same as receipts": OBSERVER_RECEIPTS },
      },
    },
    async handle({ body: { observers, atomic }, requestId, by, prefersMinimal }) {
      const outcomes = await lifecycle.createObservers(observers, { atomic }, by);
      if ("kind" in outcomes) return outcomes;
      const refuse = refuser(requestId);
      const answerOf = prefersMinimal ? receiptOf : resultOf;
      return { status: 200, body: { results: outcomes.map((outcome) => answerOf(outcome, refuse)) } };
    },
  });

function resultOf(outcome: CreateOutcome, refuse: ReturnType<typeof refuser>): BatchResults["results"][number] {
  if (outcome.kind === "problem") return refuse(outcome);
  return { status: statusOf(outcome), observer: outcome.observer };
}

function receiptOf(outcome: CreateOutcome, refuse: ReturnType<typeof refuser>): ObserverReceipts["results"][number] {
  if (outcome.kind === "problem") return refuse(outcome);
  const { id, name } = outcome.observer;
  return { status: statusOf(outcome), observer: { id, name } };
}

const statusOf = ({ kind }: Exclude<CreateOutcome, Refusal>): number => (kind === "created" ? 201 : 200);

/** Throws HttpProblem if the body as a whole is wrong. A wrong observer becomes its refusal. */
function readBatch(given: unknown): { observers: (CreateObserver | Refusal)[]; atomic: boolean } {
  const envelope = Envelope.safeParse(given);
  if (!envelope.success) throw new HttpProblem({ code: "invalid-body", errors: bodyProblems(envelope.error.issues) });
  const { observers, atomic } = envelope.data;
  const told = toldFields();
  return { observers: observers.map((one) => readObserver(one, told)), atomic };
}

function readObserver(given: unknown, told: ToldFields): CreateObserver | Refusal {
  const checked = jsonCheck(CreateObserver, given, MAX_PARAMS_BYTES, told);
  if (!checked.ok) return { kind: "problem", code: "invalid-body", errors: checked.errors };
  const isTooLarge = Buffer.byteLength(JSON.stringify(checked.value.params)) > MAX_PARAMS_BYTES;
  return isTooLarge ? { kind: "problem", code: "body-too-large", detail: "The params are too large" } : checked.value;
}
