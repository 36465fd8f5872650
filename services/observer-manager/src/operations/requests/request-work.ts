import type { TimerCancelResults } from "@unacked/contracts";
import { poolsWithin, timersWithin } from "../../domain/requests/request-users.ts";
import { type Action, newAction } from "../access/audit.ts";
import type { Refusal } from "../refusal.ts";
import type { RequestTally } from "../tally.ts";
import { type CreationTypes, checkCreations, isChange, outcomesOf } from "../tasks/creations/creation-check.ts";
import { withId } from "../tasks/creations/new-ids.ts";
import { batchResults } from "../tasks/creations/task-batch.ts";
import { timerBatchResults, timerCancelResults } from "../timers/timer-batch.ts";
import { cancelOutcomesOf, isTimerChange, newTimerOf, putOutcomesOf } from "../timers/timer-outcomes.ts";
import type { AdmittedRequest } from "./request.ts";
import { shown } from "./request-answer.ts";
import type { Answers, RequestStore, TaskDecision, TimerCancelDecision, TimerDecision } from "./request-store.ts";
import { toldWithin } from "./told-types.ts";

export interface RequestWorkParts {
  store: RequestStore;
  types: CreationTypes;
  /** Some task may be due. */
  wake(): void;
  /** Some timer may be due. */
  wakeTimers(): void;
  tally: Pick<RequestTally, "decided">;
}

/** What is said of a message-id is kept, whatever becomes of the key. */
const ASK_AGAIN = "when it has, ask for this task again under another message-id: to this one the answer stays as it is";

const CANCEL_AGAIN = "ask again to cancel it under another message-id: to this one the answer stays as it is";

/** The text that answers a request. */
type Say = (request: AdmittedRequest, answer: Parameters<typeof shown>[0]) => string;

type Of<Kind extends AdmittedRequest["kind"]> = Extract<AdmittedRequest, { kind: Kind }>;

/** Comes in: requests of one kind that nobody has decided. Guarantee: all of them are, in one transaction, or none. */
export class RequestWork {
  readonly #parts: RequestWorkParts;

  constructor(parts: RequestWorkParts) {
    this.#parts = parts;
  }

  async do(requests: readonly AdmittedRequest[]): Promise<Answers> {
    const refused = new Map<AdmittedRequest, number>();
    const answers = await this.#decide(requests, (request, answer) => {
      refused.set(request, answer.results.filter((one) => "problem" in one).length);
      return shown(answer);
    });
    if (answers === undefined) return undefined;
    for (const [{ name, wanted }, count] of refused) this.#parts.tally.decided(name, wanted.length - count, count);
    return answers;
  }

  async #decide(requests: readonly AdmittedRequest[], say: Say): Promise<Answers> {
    const tasks = ofKind(requests, "tasks");
    if (tasks.length > 0) return this.#createTasks(tasks, say);
    const timers = ofKind(requests, "timers");
    return timers.length > 0 ? this.#putTimers(timers, say) : this.#cancelTimers(ofKind(requests, "timer-cancels"), say);
  }

  async #createTasks(requests: readonly Of<"tasks">[], say: Say): Promise<Answers> {
    const { types, store, wake } = this.#parts;
    const asked = requests.flatMap(({ user, wanted }) => wanted.map((one) => ({ user, one })));
    const allTold = await checkCreations(
      types,
      asked.map(({ one }) => one),
    );
    const checked = await toldWithin(asked, allTold, types);
    let next = 0;
    let isDue = false;
    const decisions = requests.map((request): TaskDecision => {
      const wanted = checked.slice(next, (next += request.wanted.length));
      const action = actionOf("task.create", request);
      const within = poolsWithin(request.user);
      return {
        ...request,
        items: accepted(wanted).map((one) => ({ task: { within, ...withId(one) }, action })),
        answer(outcomes) {
          isDue ||= outcomes.some(isChange);
          return say(request, batchResults(outcomesOf(wanted, outcomes, ASK_AGAIN), request.messageId));
        },
      };
    });
    const answers = await store.createTasks(decisions);
    if (isDue) wake();
    return answers;
  }

  async #putTimers(requests: readonly Of<"timers">[], say: Say): Promise<Answers> {
    let isDue = false;
    const decisions = requests.map((request): TimerDecision => {
      const action = actionOf("timer.create", request);
      const within = timersWithin(request.user);
      return {
        ...request,
        items: accepted(request.wanted).map((one) => ({ timer: newTimerOf(one), action, within })),
        answer(outcomes) {
          isDue ||= outcomes.some(isTimerChange);
          return say(request, timerBatchResults(putOutcomesOf(request.wanted, outcomes), request.messageId));
        },
      };
    });
    const answers = await this.#parts.store.putTimers(decisions);
    if (isDue) this.#parts.wakeTimers();
    return answers;
  }

  #cancelTimers(requests: readonly Of<"timer-cancels">[], say: Say): Promise<Answers> {
    const decisions = requests.map((request): TimerCancelDecision => {
      const action = actionOf("timer.cancel", request);
      const within = timersWithin(request.user);
      return {
        ...request,
        items: accepted(request.wanted).map(({ id }) => ({ id, action, within })),
        answer(outcomes) {
          const cancelled = cancelOutcomesOf(request.wanted, outcomes, CANCEL_AGAIN);
          return say(request, timerCancelResults(cancelled, request.messageId) satisfies TimerCancelResults);
        },
      };
    });
    return this.#parts.store.cancelTimers(decisions);
  }
}

const ofKind = <Kind extends AdmittedRequest["kind"]>(requests: readonly AdmittedRequest[], kind: Kind): Of<Kind>[] =>
  requests.filter((one): one is Of<Kind> => one.kind === kind);

const accepted = <T extends object>(wanted: readonly (T | Refusal)[]): T[] =>
  wanted.filter((one): one is T => !("kind" in one));

function actionOf(kind: Action["kind"], { name, user, messageId }: AdmittedRequest): Action {
  const by = { name, role: user.role, authentication: "broker", address: "unacked.requests", requestId: messageId } as const;
  return newAction(kind, by);
}
