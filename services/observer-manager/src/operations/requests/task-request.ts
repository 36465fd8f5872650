import type { CreateTask, ProblemDetails } from "@unacked/contracts";
import type { RequestUser } from "../../domain/requests/request-users.ts";
import type { Refusal } from "../refusal.ts";

/** What came, as it came: nothing of it is trusted but the user's name, which the broker has checked. */
export interface TaskRequest {
  user: string | undefined;
  messageId: string | undefined;
  replyTo: string | undefined;
  body: Buffer;
}

/** `done`: decided now · `repeated`: decided before · `unanswerable`: nobody could be told; it goes to the errors · `ignored`: of too many such. */
export const REQUEST_OUTCOMES = ["done", "repeated", "refused", "too-many", "unanswerable", "ignored"] as const;
export type RequestOutcome = (typeof REQUEST_OUTCOMES)[number];

/** `json` is of TaskBatchResults (status 200), or of ProblemDetails. */
export interface Reply {
  key: string;
  status: number;
  json: string;
}

/** What is to be said of a request. */
export interface RequestAnswer {
  outcome: RequestOutcome;
  /** As in the setting; undefined: it is not in it. */
  user: string | undefined;
  /** Undefined: nobody wants it, or nobody may be sent it. */
  reply?: Reply;
  /** For the errors. */
  error?: { reason: "unreadable" | "refused-by-database"; detail: string };
}

/** A request of somebody who may ask, that can be read. */
export interface AdmittedRequest {
  name: string;
  user: RequestUser;
  messageId: string;
  /** Where the answer goes; undefined: nobody wants it. */
  replyKey: string | undefined;
  /** SHA-256 of the body. */
  digest: string;
  /** In the order given. */
  tasks: (CreateTask | Refusal)[];
}

/** More wrong fields are not worth reading. */
const MAX_FIELDS = 100;

export const problemReply = (key: string, problem: ProblemDetails): Reply => ({
  key,
  status: problem.status,
  json: JSON.stringify({ ...problem, errors: problem.errors?.slice(0, MAX_FIELDS) }),
});
