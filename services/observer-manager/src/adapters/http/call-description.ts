import type { Access, ProblemCode } from "@unacked/contracts";
import type { z } from "zod";

/** What the calls are grouped by in the document, in this order. */
export const TAGS = {
  Observers: "Jobs without an end: create them, look at them, restart and stop them, one by one or many at once.",
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
  schema?: z.ZodType;
  examples?: Examples;
  /** Default application/json. */
  contentType?: string;
  /** Beside those that every answer has. */
  headers?: Record<string, { description: string; example: string }>;
}

/** What the OpenAPI document tells of one call. */
export interface CallDescription {
  method: "get" | "post" | "delete";
  /** As in OpenAPI: `/api/v1/observers/{ref}`. Its parameters are described in openapi-parameters.ts. */
  path: string;
  tag: keyof typeof TAGS;
  operationId: string;
  summary: string;
  /** Markdown: what is worth knowing beyond the summary. */
  description?: string;
  /** Who may: the lowest role, or `open` for everybody. */
  access: Access;
  /** Each with a description (`.describe(…)`). */
  query?: z.ZodObject;
  /** Request headers that mean something to this call. */
  headers?: z.ZodObject;
  body?: z.ZodType;
  bodyExamples?: Examples;
  answers: Record<number, AnswerDescription>;
  /**
   * Beside those of the gate (GATE_PROBLEMS), which every call has that is not open. Their examples come from the catalogue
   * (examples/problem-examples.ts).
   */
  problems: ProblemCode[];
  /** Of a call for many: what stands with a single one within the answer 200. */
  itemProblems?: ProblemCode[];
  /** Of server-sent events: the schema of each kind's data. Where the answer 200 is JSON, that is what it can be instead. */
  events?: Record<string, z.ZodType>;
  /** Where it is JSON otherwise: how such a stream looks. */
  eventExamples?: Examples<string>;
}

/** An answer with a JSON body. The examples are held to the schema by the compiler too. */
export const answer = <Schema extends z.ZodType>(
  description: string,
  schema: Schema,
  examples: Examples<z.input<Schema>>,
  more: Pick<AnswerDescription, "headers"> = {},
): AnswerDescription => ({ description, schema, examples, ...more });

export const emptyAnswer = (description: string): AnswerDescription => ({ description });
