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

/** What the calls are grouped by in the document, in this order. */
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
 * By a title of a few words. What is given here is shown in the document and held by a test: an example that its schema would
 * not take, or would change (a key that it does not know, a default left out of an answer), is an error.
 */
export type Examples<Value = unknown> = Record<string, Value>;

export interface AnswerDescription {
  description: string;
  /** Absent: no body. */
  schema?: z.ZodType | undefined;
  /** What stands in its place where receipts alone are asked for. */
  minimal?: z.ZodType | undefined;
  examples?: Examples | undefined;
  /** Of `minimal`. */
  receipts?: Examples | undefined;
  /** Default application/json. */
  contentType?: string | undefined;
  /** Beside those that every answer has. */
  headers?: Record<string, { description: string; example: string }> | undefined;
}

/** A call of the contracts with all that the OpenAPI document tells of it. */
export interface CallDescription extends Omit<Call, "answers"> {
  method: "get" | "post" | "put" | "patch" | "delete";
  /** As in OpenAPI: `/api/v1/observers/{ref}`. */
  path: string;
  operationId: CallName;
  tag: keyof typeof TAGS;
  summary: string;
  /** Markdown: what is worth knowing beyond the summary. */
  description?: string | undefined;
  bodyExamples?: Examples | undefined;
  answers: Record<number, AnswerDescription>;
  /** Where the answer is JSON otherwise: how a stream of its events looks. */
  eventExamples?: Examples<string> | undefined;
}

type Calls = typeof CALLS;
type Written<Schema> = Schema extends z.ZodType ? { examples: Examples<z.input<Schema>> } : { examples?: undefined };

/** What the contracts do not say of a call. The examples are held to its schemas by the compiler too. */
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
