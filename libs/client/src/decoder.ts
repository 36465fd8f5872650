import type { CallName, MinimalCallName } from "@unacked/contracts";
import { type AnyProblem, CallError } from "./call-error.ts";
import type { EventBlock } from "./event-blocks.ts";
import type { RawAnswer } from "./wire.ts";

/** The calls that answer with server-sent events. */
export type StreamName = "followChanges" | "getLogs";

/** Decodes what came over the wire. Throws CallError. */
export interface Decoder {
  answer(name: CallName, raw: RawAnswer): unknown;
  /**
   * Decodes the answer to a call that asked only for receipts. A manager that does not know these answers with everything, which
   * includes them.
   */
  receipts(name: MinimalCallName, raw: RawAnswer): unknown;
  /** Undefined means that this client does not know such events; the format asks to ignore them. */
  event(stream: StreamName, block: EventBlock, request: string): { name: string; data: unknown } | undefined;
  problem(body: unknown): AnyProblem | undefined;
}

/**
 * Trusts that what comes matches the contracts, and checks nothing: for a page of the same version as its manager, which must
 * not load zod.
 */
export const trustingDecoder: Decoder = {
  answer: (name, raw) => answerIn(name, raw, trustingDecoder),
  receipts: (name, raw) => trustingDecoder.answer(name, raw),
  event: (_stream, { event, data }) => ({ name: event, data: JSON.parse(data) }),
  problem: (body) => (isProblem(body) ? body : undefined),
};

/** A proxy before the manager may refuse with JSON that has a `code` of its own. */
function isProblem(body: unknown): body is AnyProblem {
  const { code, detail, remedy } = (body ?? {}) as Partial<AnyProblem>;
  return [code, detail, remedy].every((text) => typeof text === "string");
}

/** The body of an answer, undefined without one. Throws if the call was refused. */
export function answerIn(name: CallName, raw: RawAnswer, decoder: Pick<Decoder, "problem">): unknown {
  const { status, contentType, text } = raw;
  // A probe reports what is not ready with a status that otherwise means a refusal, and metrics are text.
  const isUnready = name === "isReady" && status === 503 && !contentType.startsWith("application/problem+json");
  if ((status < 200 || status > 299) && !isUnready) throw refusalOf(raw, decoder);
  if (status === 204) return undefined;
  return name === "getMetrics" && contentType.startsWith("text/plain") ? text : bodyOf(raw);
}

export function bodyOf(raw: RawAnswer): unknown {
  if (!/^application\/(?:problem\+)?json\b/.test(raw.contentType))
    throw notUnacked(raw, raw.contentType || "no content type");
  try {
    return JSON.parse(raw.text);
  } catch (error) {
    throw notUnacked(raw, "a body that is not JSON", error);
  }
}

const notUnacked = ({ request, status }: RawAnswer, what: string, cause?: unknown): CallError =>
  new CallError("not-unacked", `${request} answered ${status} with ${what}, as no manager of Unacked does`, {
    request,
    status,
    cause,
  });

/** The error for an answer whose status says that the call was not done. */
export function refusalOf(raw: RawAnswer, decoder: Pick<Decoder, "problem">): CallError {
  const problem = decoder.problem(bodyOf(raw));
  return problem === undefined ? notUnacked(raw, "no problem document") : CallError.refused(problem, raw.request);
}
