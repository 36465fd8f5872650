import { roleReaches } from "@unacked/contracts";
import { jsonMistake } from "../../domain/json-mistake.ts";
import type { RequestUser, RequestUsers } from "../../domain/requests/request-users.ts";
import { TokenBucket } from "../../domain/requests/token-bucket.ts";
import { toProblemDetails } from "../problem-details.ts";
import type { Refusal } from "../refusal.ts";
import {
  type AdmittedRequest,
  problemReply,
  type ReceivedRequest,
  type RequestAnswer,
  type RequestError,
} from "./request.ts";
import { wordsOf } from "./unheard.ts";
import { ASK_FOR_IT, allowed, readWanted } from "./wanted.ts";

export const MAX_REQUEST_BYTES = 1_048_576;
const MAX_REQUESTED = 1_000;
/** Whoever they are, so many of those who are not answered go to the errors; of those who ask too often, so many beside them. */
const UNANSWERED_PER_MINUTE = 60;

const MESSAGE_ID = /^[\x21-\x7e]{1,128}$/;
const KEY = /^[\x21-\x7e]{1,255}$/;

export interface RequestGateParts {
  users: RequestUsers;
  /** Hex. */
  sha256(body: Buffer): string;
  nowMs?(): number;
}

/** Comes in: any message. Guarantees: admitted is only what may be asked, by whom it is; what is not is answered where that is safe. */
export class RequestGate {
  readonly #users: ReadonlyMap<string, { user: RequestUser; bucket: TokenBucket }>;
  readonly #strangers: TokenBucket;
  /** Of those who ask too often and are not answered: they take no place of others among the errors. */
  readonly #tooMany: TokenBucket;
  readonly #sha256: (body: Buffer) => string;
  readonly #nowMs: () => number;

  constructor({ users, sha256, nowMs = () => performance.now() }: RequestGateParts) {
    this.#sha256 = sha256;
    this.#nowMs = nowMs;
    this.#strangers = new TokenBucket(UNANSWERED_PER_MINUTE, nowMs());
    this.#tooMany = new TokenBucket(UNANSWERED_PER_MINUTE, nowMs());
    this.#users = new Map(
      Object.entries(users).map(([name, user]) => [name, { user, bucket: new TokenBucket(user.perMinute, nowMs()) }]),
    );
  }

  admit(request: ReceivedRequest): AdmittedRequest | RequestAnswer {
    const { user: name, replyTo, hasWaited } = request;
    if (name === undefined) return this.#unanswerable(undefined, "it has no user-id: who sends it has to say so");
    const known = this.#users.get(name);
    if (known === undefined)
      return this.#unanswerable(undefined, `REQUEST_USERS does not name the user ${JSON.stringify(name)}`);
    if (replyTo !== undefined && !(KEY.test(replyTo) && replyTo.startsWith(`${name}.`)))
      return this.#unanswerable(name, `reply-to has to begin with "${name}.", and is ${JSON.stringify(replyTo)}`);
    // It came in its time, and may be decided already: who keeps to the rate is not to pay for a manager or a database that went.
    const waitMs = hasWaited ? 0 : known.bucket.take(this.#nowMs());
    if (waitMs === 0) return this.#read(name, known.user, request);
    const { perMinute } = known.user;
    const detail = `${name} may ask ${perMinute} times a minute (perMinute in REQUEST_USERS)`;
    return this.#refused(name, request, "too-many", {
      kind: "problem",
      code: "too-many-requests",
      detail,
      retryAfterS: Math.ceil(waitMs / 1_000),
    });
  }

  #read(name: string, user: RequestUser, request: ReceivedRequest): AdmittedRequest | RequestAnswer {
    const { messageId, replyTo, body } = request;
    const refuse = (refusal: Omit<Refusal, "kind">) =>
      this.#refused(name, request, "refused", { kind: "problem", ...refusal });
    if (!roleReaches(user.role, "operator"))
      return refuse({
        code: "forbidden",
        detail: `It needs the role operator, and ${name} is ${user.role}`,
        neededRole: "operator",
        remedy: ASK_FOR_IT,
      });
    if (messageId === undefined || !MESSAGE_ID.test(messageId))
      return refuse({
        code: "malformed-request",
        detail: "message-id must be 1 to 128 ASCII characters without spaces",
        remedy: "Give each request such a message-id, and the same one when you repeat it.",
      });
    if (body.length > MAX_REQUEST_BYTES)
      return refuse({ code: "body-too-large", detail: `A request has at most ${MAX_REQUEST_BYTES} bytes` });
    const json = parsed(body.toString("utf8"));
    if ("mistake" in json) return refuse({ code: "malformed-json", detail: json.mistake });
    const given = readWanted(json.value);
    if (!given.ok) return refuse(given.refusal);
    const { kind, wanted } = given.read;
    if (wanted.length > MAX_REQUESTED)
      return refuse({ code: "body-too-large", detail: `A request has at most ${MAX_REQUESTED} ${NOUNS[kind]}` });
    return { name, user, messageId, replyKey: replyTo, digest: this.#sha256(body), ...allowed(name, user, given.read) };
  }

  #refused(
    user: string,
    { messageId, replyTo: key }: ReceivedRequest,
    outcome: RequestAnswer["outcome"],
    refusal: Refusal,
  ): RequestAnswer {
    const problem = toProblemDetails(refusal, messageId ?? "");
    if (key !== undefined) return { outcome, user, reply: { key, ...problemReply(problem) } };
    const error = this.unheard(`${user}: ${wordsOf(problem)}`, outcome === "too-many" ? this.#tooMany : this.#strangers);
    return { outcome, user, ...(error && { error }) };
  }

  #unanswerable(user: string | undefined, detail: string): RequestAnswer {
    const error = this.unheard(detail);
    return error === undefined ? { outcome: "ignored", user } : { outcome: "unanswerable", user, error };
  }

  /** What nobody hears of otherwise, as an error. Undefined: there were too many such just now. */
  unheard(detail: string, bucket = this.#strangers): RequestError | undefined {
    return bucket.take(this.#nowMs()) > 0 ? undefined : { reason: "unreadable", detail };
  }
}

const NOUNS = { tasks: "tasks", timers: "timers", "timer-cancels": "timers" } as const;

function parsed(text: string): { value: unknown } | { mistake: string } {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return { mistake: jsonMistake(text) ?? "The body is not JSON" };
  }
}
