import type { z } from "zod";
import { CliFailure } from "../failure.ts";
import type { EventBlock } from "./event-blocks.ts";
import { parseProblem, problemFailure } from "./problem-failure.ts";

export interface RawAnswer {
  /** `GET http://…/api/v1/observers`, for messages. */
  request: string;
  status: number;
  contentType: string;
  text: string;
}

/** The answer in its type; a refusal, or an answer of another shape than the contract's, is thrown as a CliFailure. */
export function decodeAnswer<Schema extends z.ZodType>(schema: Schema, raw: RawAnswer, about?: string): z.output<Schema> {
  if (raw.status < 200 || raw.status > 299) throw refusalOf(raw, about);
  const parsed = schema.safeParse(raw.status === 204 ? undefined : bodyOf(raw));
  if (parsed.success) return parsed.data;
  throw new CliFailure("unexpectedAnswer", `${raw.request} answered with something else than this program expects`, {
    details: flawsOf(parsed.error),
    remedy: "Are manager and command line of one version?",
    cause: parsed.error,
  });
}

/** What an event of a stream carries; `request` names the stream. */
export const decodeEvent = <Schema extends z.ZodType>(
  schema: Schema,
  { event, data }: EventBlock,
  request: string,
): z.output<Schema> =>
  decodeAnswer(schema, {
    request: `the event "${event}" of ${request}`,
    status: 200,
    contentType: "application/json",
    text: data,
  });

function bodyOf(raw: RawAnswer): unknown {
  if (!/^application\/(?:problem\+)?json\b/.test(raw.contentType))
    throw notUnacked(raw, raw.contentType || "no content type");
  try {
    return JSON.parse(raw.text);
  } catch (error) {
    throw notUnacked(raw, "a body that is not JSON", error);
  }
}

const notUnacked = ({ request, status }: RawAnswer, what: string, cause?: unknown): CliFailure =>
  new CliFailure("unexpectedAnswer", `${request} answered ${status} with ${what}, as no manager of Unacked does`, {
    remedy: "Check the address: unacked config view",
    cause,
  });

/** Of an answer whose status says that it was not done. */
export function refusalOf(raw: RawAnswer, about?: string): CliFailure {
  const problem = parseProblem(bodyOf(raw));
  if (problem !== undefined) return problemFailure(problem, about);
  return notUnacked(raw, "no problem document");
}

const MAX_FLAWS = 5;

/** `items.3.status: Invalid option: …` for each place that is not as the schema has it. */
function flawsOf({ issues }: z.ZodError): string[] {
  const lines = issues.slice(0, MAX_FLAWS).map(({ path, message }) => `${path.join(".") || "the whole answer"}: ${message}`);
  return issues.length > MAX_FLAWS ? [...lines, `and ${issues.length - MAX_FLAWS} more`] : lines;
}
