import { newTaskId } from "@unacked/contracts";
import { type Action, newAction } from "../access/audit.ts";
import type { Log } from "../log.ts";
import { checkCreations, isChange, outcomesOf } from "../tasks/creation-check.ts";
import { batchResults } from "../tasks/task-batch.ts";
import type { InsertOutcome, TaskTypeStore } from "../tasks/task-store.ts";
import { answerOf, repeated, shown, undecidable } from "./request-answer.ts";
import { type Decision, type RequestStore, requestKey } from "./request-store.ts";
import type { AdmittedRequest, RequestAnswer } from "./task-request.ts";

/** Requests of so many tasks together share a transaction, and one request at least. */
const MAX_TOGETHER = 1_000;
const MAX_RACES = 20;

export interface RequestDeskParts {
  store: RequestStore;
  types: Pick<TaskTypeStore, "liveTypes">;
  /** Whether the same may succeed later. */
  isPassing(error: unknown): boolean;
  /** Something may be due. */
  wake(): void;
  log: Log;
}

/**
 * Comes in: requests that may be asked. Guarantees: each is decided once, with what it creates, however often and wherever it comes; one
 * that cannot be decided costs none of its neighbours. Rejects while the database is away; what was decided by then is answered the same
 * when it is asked again.
 */
export class RequestDesk {
  readonly #parts: RequestDeskParts;

  constructor(parts: RequestDeskParts) {
    this.#parts = parts;
  }

  async decide(requests: readonly AdmittedRequest[]): Promise<Map<AdmittedRequest, RequestAnswer>> {
    const answers = new Map<AdmittedRequest, RequestAnswer>();
    for (const together of bundles(requests)) await this.#decideTogether(together, answers);
    return answers;
  }

  async #decideTogether(together: AdmittedRequest[], answers: Map<AdmittedRequest, RequestAnswer>): Promise<void> {
    try {
      await this.#decideAll(together, answers);
    } catch (error) {
      if (this.#parts.isPassing(error)) throw error;
      const [only, ...others] = together;
      if (others.length > 0) for (const one of together) await this.#decideTogether([one], answers);
      else if (only !== undefined) this.#giveUp(only, error, answers);
    }
  }

  #giveUp(request: AdmittedRequest, error: unknown, answers: Map<AdmittedRequest, RequestAnswer>): void {
    const { name, messageId } = request;
    this.#parts.log.error({ err: error, user: name, messageId }, "a request can never be decided, and is refused");
    answers.set(request, undecidable(request, error));
  }

  async #decideAll(requests: AdmittedRequest[], answers: Map<AdmittedRequest, RequestAnswer>): Promise<void> {
    for (let race = 0; race < MAX_RACES; race += 1) {
      const kept = await this.#parts.store.find(requests);
      const fresh: AdmittedRequest[] = [];
      for (const request of requests) {
        const answer = kept.get(requestKey(request));
        if (answer === undefined) fresh.push(request);
        else answers.set(request, repeated(request, answer));
      }
      if (fresh.length === 0 || (await this.#decideFresh(fresh, answers))) return;
    }
    throw new Error("other managers decide these requests each time they are looked at");
  }

  async #decideFresh(fresh: AdmittedRequest[], answers: Map<AdmittedRequest, RequestAnswer>): Promise<boolean> {
    const checked = await checkCreations(
      this.#parts.types,
      fresh.flatMap(({ tasks }) => tasks),
    );
    let next = 0;
    const decisions = fresh.map((request) => decisionOf(request, checked.slice(next, (next += request.tasks.length))));
    const decided = await this.#parts.store.decide(decisions);
    if (decided === undefined) return false;
    if (decided.some(({ outcomes }) => outcomes.some(isChange))) this.#parts.wake();
    for (const [i, { json }] of decided.entries()) {
      const request = fresh[i] as AdmittedRequest;
      answers.set(request, answerOf(request, "done", json));
    }
    return true;
  }
}

/** In order, and none with two of one request: the second is to find what was decided of the first. */
function bundles(requests: readonly AdmittedRequest[]): AdmittedRequest[][] {
  const all: AdmittedRequest[][] = [];
  let keys = new Set<string>();
  let count = Number.POSITIVE_INFINITY;
  for (const request of requests) {
    const key = requestKey(request);
    if (count + request.tasks.length > MAX_TOGETHER || keys.has(key)) {
      all.push([]);
      keys = new Set();
      count = 0;
    }
    all.at(-1)?.push(request);
    keys.add(key);
    count += request.tasks.length;
  }
  return all;
}

function decisionOf(request: AdmittedRequest, checked: AdmittedRequest["tasks"]): Decision {
  const { name, user, messageId, digest } = request;
  const by = { name, role: user.role, authentication: "broker", address: "unacked.requests", requestId: messageId } as const;
  const action: Action = newAction("task.create", by);
  return {
    name,
    messageId,
    digest,
    tasks: checked.flatMap((one) => ("kind" in one ? [] : [{ task: { ...one, id: one.id ?? newTaskId() }, action }])),
    answer: (outcomes: InsertOutcome[]) => shown(batchResults(outcomesOf(checked, outcomes), messageId)),
  };
}
