import type { CreateTask, CreateTimer, ProblemDetails, TimerId } from "@unacked/contracts";
import type { RequestUser } from "../../domain/requests/request-users.ts";
import type { Refusal } from "../refusal.ts";

/** What came, as it came: nothing of it is trusted but the user's name, which the broker has checked. */
export interface ReceivedRequest {
  user: string | undefined;
  messageId: string | undefined;
  replyTo: string | undefined;
  body: Buffer;
  /** The broker has given it to a manager before, or it stood in the queue while none read that: nobody knows when it was asked. */
  hasWaited: boolean;
}

/** `done`: decided now · `repeated`: decided before · `unanswerable`: nobody could be told; it goes to the errors · `ignored`: of too many such. */
export const REQUEST_OUTCOMES = ["done", "repeated", "refused", "too-many", "unanswerable", "ignored"] as const;
export type RequestOutcome = (typeof REQUEST_OUTCOMES)[number];

/** What the JSON of an answer is of. */
export const ANSWER_TYPES = {
  tasks: "TaskBatchResults",
  timers: "TimerBatchResults",
  "timer-cancels": "TimerCancelResults",
} as const;

export interface Reply {
  key: string;
  status: number;
  type: (typeof ANSWER_TYPES)[keyof typeof ANSWER_TYPES] | "Problem";
  json: string;
}

/** What is to be said of a request. */
export interface RequestAnswer {
  outcome: RequestOutcome;
  /** The name as in the setting; undefined: it is not in it. */
  user: string | undefined;
  /** Undefined: nobody wants it, or nobody may be sent it. */
  reply?: Reply;
  /** What is put to the errors. */
  error?: RequestError;
  /** What was refused, where nobody wants the answer: put to the errors, where these have room for it. */
  unheard?: string;
}

export interface RequestError {
  reason: "unreadable" | "refused-by-database";
  detail: string;
}

/** What somebody wants, in the order given; what cannot be as its refusal. */
export type Wanted =
  | { kind: "tasks"; wanted: (CreateTask | Refusal)[] }
  | { kind: "timers"; wanted: (CreateTimer | Refusal)[] }
  | { kind: "timer-cancels"; wanted: ({ id: TimerId } | Refusal)[] };

/** A request of somebody who may ask, that can be read. */
export type AdmittedRequest = Wanted & {
  name: string;
  user: RequestUser;
  messageId: string;
  /** Where the answer goes; undefined: nobody wants it. */
  replyKey: string | undefined;
  /** SHA-256 of the body. */
  digest: string;
};

/** More wrong fields are not worth reading. */
const MAX_FIELDS = 100;

export const problemReply = (problem: ProblemDetails): Omit<Reply, "key"> => ({
  status: problem.status,
  type: "Problem",
  json: JSON.stringify({ ...problem, errors: problem.errors?.slice(0, MAX_FIELDS) }),
});
