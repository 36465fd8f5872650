import {
  type BodyOf,
  CALLS,
  type Call,
  type CallName,
  type MinimalCallName,
  type MinimalOf,
  placeOf,
} from "@unacked/contracts";
import type { z } from "zod";

/** The groups of calls in the document, in this order. */
export const TAGS = {
  Observers: "Jobs without an end: create them, look at them, change, restart and stop them, one by one or many at once.",
  Tasks: "Jobs that end: create them, wait for their results, cancel and retry them, limit their types.",
  Flows: "Tasks that wait for each other: create them whole, follow them, cancel them, run them again from anywhere.",
  "Bulk work": "What is asked of very many, done step by step: begin it, see how far it is, cancel it.",
  Timers: "Messages that go out at a time: set them, look at them, cancel them.",
  Schedules: "What happens by the calendar: tasks at their times, observers in their hours.",
  Services: "The processes that run observers, and the observer types that they know.",
  Errors: "What could not be read or was given up, and what observers fail of.",
  Overview: "Figures of the whole, and all changes as they happen.",
  Audit: "Who did what.",
  Session: "Who the caller is, and the page's sign-in.",
  Health: "For probes and for Prometheus.",
  Document: "This description of the API.",
};

/**
 * Examples by a title of a few words. The document shows them and a test checks them: an example that its schema would not
 * take, or would change (an unknown key, a default left out of an answer), is an error.
 */
export type Examples<Value = unknown> = Record<string, Value>;

export interface AnswerDescription {
  description: string;
  /** Absent means no body. */
  schema?: z.ZodType | undefined;
  /** The schema if only receipts are asked for. */
  minimal?: z.ZodType | undefined;
  examples?: Examples | undefined;
  /** Examples of `minimal`. */
  receipts?: Examples | undefined;
  /** Default application/json. */
  contentType?: string | undefined;
  /** Headers beside those of every answer. */
  headers?: Record<string, { description: string; example: string }> | undefined;
}

/** A call of the contracts with everything that the OpenAPI document says about it. */
export interface CallDescription extends Omit<Call, "answers"> {
  method: "get" | "post" | "put" | "patch" | "delete";
  /** The path as in OpenAPI: `/api/v1/observers/{ref}`. */
  path: string;
  operationId: CallName;
  tag: keyof typeof TAGS;
  summary: string;
  /** Markdown: what is worth knowing beyond the summary. */
  description?: string | undefined;
  bodyExamples?: Examples | undefined;
  answers: Record<number, AnswerDescription>;
  /** How a stream of its events looks, for a call whose answer is otherwise JSON. */
  eventExamples?: Examples<string> | undefined;
}

type Calls = typeof CALLS;
type Written<Schema> = Schema extends z.ZodType ? { examples: Examples<z.input<Schema>> } : { examples?: undefined };

/** What the contracts do not say about a call. The compiler, too, checks the examples against its schemas. */
export interface Told<Name extends CallName>
  extends Pick<CallDescription, "tag" | "summary" | "description" | "eventExamples"> {
  bodyExamples?: Examples<BodyOf<Name>>;
  answers: {
    [Status in keyof Calls[Name]["answers"]]: Pick<AnswerDescription, "description" | "contentType" | "headers"> &
      Written<Calls[Name]["answers"][Status]> &
      (Name extends MinimalCallName ? { receipts: Examples<MinimalOf<Name>> } : object);
  };
}

export function describeCall<Name extends CallName>(name: Name, { answers, ...told }: Told<Name>): CallDescription {
  const { method, path } = placeOf(name);
  const call: Call = CALLS[name];
  const answerOf = ([status, one]: [string, AnswerDescription]) => {
    const schema = call.answers[Number(status)] ?? undefined;
    return [status, { ...one, schema, minimal: call.minimal?.[Number(status)] }] as const;
  };
  return {
    ...call,
    ...told,
    method: method.toLowerCase() as CallDescription["method"],
    path,
    operationId: name,
    answers: Object.fromEntries(Object.entries(answers as Record<string, AnswerDescription>).map(answerOf)),
  };
}
