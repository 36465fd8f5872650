import {
  cut,
  type TaskBatchResults,
  type TimerBatchResults,
  type TimerCancelResults,
  withoutHoles,
} from "@unacked/contracts";
import { RefusedByDatabase } from "../books/books-store.ts";
import { toProblemDetails } from "../problem-details.ts";
import type { Refusal } from "../refusal.ts";
import {
  type AdmittedRequest,
  ANSWER_TYPES,
  problemReply,
  type Reply,
  type RequestAnswer,
  type RequestOutcome,
} from "./request.ts";
import { refusedIn } from "./unheard.ts";

/** RabbitMQ 4 takes messages up to 16 MiB, and closes the channel of who sends more. */
const MAX_ANSWER_LENGTH = 4_000_000;

/** So much of an error's message is told in an answer that is too long. */
const MAX_ERROR_LENGTH = 200;

/** And so much of why something was refused. */
const MAX_DETAIL_LENGTH = 300;

/**
 * The JSON of these results. Very long ones go without params and results, and say less of what was refused: a thousand of 64 KiB are more
 * than a message may have. (What was wrong in the first field of each is bounded for all of them together: toldFields.)
 */
export function shown({ results }: TaskBatchResults | TimerBatchResults | TimerCancelResults): string {
  const json = JSON.stringify({ results });
  return json.length <= MAX_ANSWER_LENGTH ? json : JSON.stringify({ results: results.map(short) });
}

type Result = (TaskBatchResults | TimerBatchResults | TimerCancelResults)["results"][number];

function short(result: Result): object {
  if ("task" in result) {
    const { lastError, ...task } = result.task;
    const error = lastError && { name: lastError.name, message: withoutHoles(lastError.message.slice(0, MAX_ERROR_LENGTH)) };
    return { ...result, task: { ...task, params: null, output: null, lastError: error } };
  }
  if ("timer" in result) return { ...result, timer: { ...result.timer, payload: null } };
  const { problem } = result;
  const told = { detail: cut(problem.detail, MAX_DETAIL_LENGTH), errors: problem.errors?.slice(0, 1) };
  return { ...result, problem: { ...problem, ...told, knownTypes: undefined, knownPools: undefined } };
}

export const answerOf = (request: AdmittedRequest, outcome: "done" | "repeated", json: string): RequestAnswer =>
  told(request, outcome, { status: 200, type: ANSWER_TYPES[request.kind], json });

/** @param digest of what was decided @param json what was said of that */
export function repeated(request: AdmittedRequest, digest: string, json: string): RequestAnswer {
  if (digest === request.digest) return answerOf(request, "repeated", json);
  const detail = `The message-id ${request.messageId} was that of a request with another body`;
  return refusedWith(request, { kind: "problem", code: "id-taken", detail });
}

/** Answers what no other try would mend: nothing of the request was done. It stands among the errors, too, for whoever runs the manager. */
export function undecidable(request: AdmittedRequest, error: unknown): RequestAnswer {
  const isRefused = error instanceof RefusedByDatabase;
  const detail = `The request ${request.messageId} of ${request.name} cannot be decided: ${isRefused ? error.message : "an error of the manager's own, see its log"}`;
  const refusal: Refusal = isRefused
    ? { kind: "problem", code: "invalid-body", detail: "PostgreSQL refuses a value in it" }
    : { kind: "problem", code: "internal-error" };
  return { ...refusedWith(request, refusal), error: { reason: "refused-by-database", detail } };
}

function refusedWith(request: AdmittedRequest, refusal: Refusal): RequestAnswer {
  return told(request, "refused", problemReply(toProblemDetails(refusal, request.messageId)));
}

function told(
  { name, messageId, replyKey }: AdmittedRequest,
  outcome: RequestOutcome,
  reply: Omit<Reply, "key">,
): RequestAnswer {
  if (replyKey !== undefined) return { outcome, user: name, reply: { key: replyKey, ...reply } };
  const refused = refusedIn(reply.json);
  return { outcome, user: name, ...(refused !== undefined && { unheard: `${name}, request ${messageId}: ${refused}` }) };
}
