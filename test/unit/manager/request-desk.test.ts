import { expect, it } from "vitest";
import type { AdmittedRequest } from "../../../services/observer-manager/src/operations/requests/request.ts";
import { RequestDesk } from "../../../services/observer-manager/src/operations/requests/request-desk.ts";
import {
  type KeptAnswer,
  MAX_ANSWERS_LENGTH,
  type RequestKey,
  requestKey,
  type TaskDecision,
} from "../../../services/observer-manager/src/operations/requests/request-store.ts";

/** Answers of which two are as long as may be together. */
const LONG = JSON.stringify({ results: [{ task: "x".repeat(MAX_ANSWERS_LENGTH / 2) }] });

const refused = { kind: "problem", code: "invalid-body" } as const;
const request = (messageId: string, more: object = {}) =>
  ({
    kind: "tasks",
    name: "shop",
    user: {},
    messageId,
    digest: "d",
    replyKey: "shop.q",
    wanted: [refused],
    ...more,
  }) as unknown as AdmittedRequest;

/** Keeps these in memory as PostgreSQL does, counts what is read, and refuses for good whatever is decided with `never`. */
class KeptAnswers {
  readonly kept: Map<string, string>;
  read = 0;

  constructor(requests: readonly AdmittedRequest[]) {
    this.kept = new Map(requests.map((one) => [requestKey(one), LONG]));
  }

  async find(keys: readonly RequestKey[]): Promise<Map<string, KeptAnswer>> {
    let before = 0;
    const found = new Map<string, KeptAnswer>();
    for (const key of keys.map(requestKey)) {
      const json = this.kept.get(key);
      if (json === undefined) continue;
      found.set(key, { digest: "d", json: before < MAX_ANSWERS_LENGTH ? json : null });
      if (before < MAX_ANSWERS_LENGTH) this.read += json.length;
      before += json.length;
    }
    return found;
  }

  async createTasks(decisions: readonly TaskDecision[]): Promise<string[]> {
    if (decisions.some(({ messageId }) => messageId === "never")) throw new Error("a value that no column takes");
    for (const one of decisions) this.kept.set(requestKey(one), one.answer([]));
    return decisions.map(() => "[]");
  }
}

const deskOf = (store: KeptAnswers) =>
  new RequestDesk({
    ...{ store: store as never, types: {} as never, log: { error() {} } as never },
    ...{ isPassing: () => false, wake() {}, wakeTimers() {}, tally: { decided() {} } },
  });

/** As the consumer does: the first that are answered are done with, and the others are asked for next. @returns the outcomes of each round */
async function inRounds(store: KeptAnswers, requests: readonly AdmittedRequest[]): Promise<(string | undefined)[][]> {
  const desk = deskOf(store);
  const rounds: (string | undefined)[][] = [];
  for (let done = 0; done < requests.length; ) {
    const left = requests.slice(done);
    const answers = await desk.decide(left);
    const end = left.findIndex((one) => !answers.has(one));
    const answered = left.slice(0, end < 0 ? left.length : end);
    expect(answers.size, "nothing is decided, and thrown away").toBe(answered.length);
    rounds.push(answered.map((one) => answers.get(one)?.outcome));
    done += answered.length;
  }
  return rounds;
}

const manyOf = (count: number, more: object = {}) => Array.from({ length: count }, (_, i) => request(`m-${i}`, more));

it("Of kept answers that are too long together the first are given, and the others when they are asked for next", async () => {
  const requests = manyOf(5);
  const rounds = await inRounds(new KeptAnswers(requests), requests);
  expect(rounds).toEqual([["repeated", "repeated"], ["repeated", "repeated"], ["repeated"]]);
});

it("What nobody has decided is decided when all before it are answered, and is told as done", async () => {
  const requests = manyOf(5);
  const rounds = await inRounds(new KeptAnswers(requests), [...requests, request("fresh")]);
  expect(rounds.at(-1)).toEqual(["repeated", "done"]);
});

it("Kept answers that nobody is sent are read once, too", async () => {
  // Of so many tasks that eight of them share a transaction.
  const requests = manyOf(48, { replyKey: undefined, wanted: Array.from({ length: 120 }, () => refused) });
  const store = new KeptAnswers(requests);
  await inRounds(store, requests);
  expect(store.read).toBe(48 * LONG.length);
});

it("One that can never be decided has its neighbours' kept answers read no more than else", async () => {
  const requests = [request("a"), request("never"), ...manyOf(10)];
  const store = new KeptAnswers(requests.filter(({ messageId }) => messageId !== "never"));
  const rounds = await inRounds(store, requests);
  expect(rounds[0]).toEqual(["repeated", "refused", "repeated"]);
  expect(rounds.map((round) => round.length)).toEqual([3, 2, 2, 2, 2, 1]);
  expect(store.read).toBe(11 * LONG.length);
});
