import type { Log } from "../log.ts";
import type { AdmittedRequest, RequestAnswer } from "./request.ts";
import { answerOf, repeated, undecidable } from "./request-answer.ts";
import { MAX_ANSWERS_LENGTH, type RequestStore, requestKey } from "./request-store.ts";
import { RequestWork, type RequestWorkParts } from "./request-work.ts";

/** Requests for so many together share a transaction; a transaction has one request at least. */
const MAX_TOGETHER = 1_000;
const MAX_RACES = 20;

export interface RequestDeskParts extends RequestWorkParts {
  store: RequestStore;
  /** Whether the same may succeed later. */
  isPassing(error: unknown): boolean;
  log: Log;
}

/**
 * Comes in: requests that may be asked. Guarantees: each is decided once, with what it creates, however often and wherever it comes; one
 * that cannot be decided costs none of its neighbours. Rejects while the database is away; what was decided by then is answered the same
 * when it is asked again.
 */
export class RequestDesk {
  readonly #parts: RequestDeskParts;
  readonly #work: RequestWork;

  constructor(parts: RequestDeskParts) {
    this.#parts = parts;
    this.#work = new RequestWork(parts);
  }

  /** @returns the answers to the first of these, to one at least, until they are long together: the others are to be asked for next */
  async decide(requests: readonly AdmittedRequest[]): Promise<Map<AdmittedRequest, RequestAnswer>> {
    const answers = new Map<AdmittedRequest, RequestAnswer>();
    for (const together of bundles(requests)) {
      await this.#decideTogether(together, answers);
      if (isFull(answers) || !together.every((request) => answers.has(request))) break;
    }
    return answers;
  }

  async #decideTogether(together: AdmittedRequest[], answers: Map<AdmittedRequest, RequestAnswer>): Promise<void> {
    try {
      await this.#decideAll(together, answers);
    } catch (error) {
      if (this.#parts.isPassing(error)) throw error;
      const [only, ...others] = together;
      if (others.length > 0) await this.#decideEach(together, answers);
      else if (only !== undefined) this.#giveUp(only, error, answers);
    }
  }

  /** Leaves out those whose kept answers are known by now, and those behind answers that are long together. */
  async #decideEach(requests: readonly AdmittedRequest[], answers: Map<AdmittedRequest, RequestAnswer>): Promise<void> {
    for (const request of requests) {
      if (answers.has(request)) continue;
      await this.#decideTogether([request], answers);
      if (isFull(answers)) return;
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
        if (answer?.json === null) break; // this one and those behind it are asked for next: decided now, they would be told as repeated then
        if (answer === undefined) fresh.push(request);
        else answers.set(request, repeated(request, answer.digest, answer.json));
      }
      if (fresh.length === 0 || (await this.#decideFresh(fresh, answers))) return;
    }
    throw new Error("other managers decide these requests each time they are looked at");
  }

  async #decideFresh(fresh: AdmittedRequest[], answers: Map<AdmittedRequest, RequestAnswer>): Promise<boolean> {
    const decided = await this.#work.do(fresh);
    if (decided === undefined) return false;
    for (const [i, json] of decided.entries()) {
      const request = fresh[i] as AdmittedRequest;
      answers.set(request, answerOf(request, "done", json));
    }
    return true;
  }
}

const isFull = (answers: ReadonlyMap<AdmittedRequest, RequestAnswer>): boolean =>
  [...answers.values()].reduce((sum, { reply }) => sum + (reply?.json.length ?? 0), 0) >= MAX_ANSWERS_LENGTH;

/**
 * Splits them in order. A bundle has one kind, and no two of one request, as the second is to find what was decided of the first, or of one
 * timer.
 */
function bundles(requests: readonly AdmittedRequest[]): AdmittedRequest[][] {
  const all: AdmittedRequest[][] = [];
  let keys = new Set<string>();
  let count = Number.POSITIVE_INFINITY;
  for (const request of requests) {
    const own = [requestKey(request), ...timerIdsOf(request)];
    const kind = all.at(-1)?.[0]?.kind;
    if (count + request.wanted.length > MAX_TOGETHER || kind !== request.kind || own.some((key) => keys.has(key))) {
      all.push([]);
      keys = new Set();
      count = 0;
    }
    all.at(-1)?.push(request);
    for (const key of own) keys.add(key);
    count += request.wanted.length;
  }
  return all;
}

const timerIdsOf = (request: AdmittedRequest): string[] =>
  request.kind === "tasks" ? [] : request.wanted.flatMap((one) => ("kind" in one ? [] : [one.id]));
