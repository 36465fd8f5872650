import { type CreateTimer, type Instant, instantMs, type TimerId, type TimerPage, type TimerView } from "@unacked/contracts";
import type { Actor } from "../../domain/access/identity.ts";
import { newAction } from "../access/audit.ts";
import { encodeTimerCursor } from "../cursor.ts";
import type { Refusal } from "../refusal.ts";
import type { NewTimer, PutOutcome, TimerQuery, TimerStore } from "./timer-store.ts";
import type { TimerPutOutcome, TimerTools } from "./timer-tools.ts";

export interface TimerDeskParts {
  store: TimerStore;
  /** Something may be due earlier. */
  wake(): void;
}

export class TimerDesk implements TimerTools {
  readonly #parts: TimerDeskParts;

  constructor(parts: TimerDeskParts) {
    this.#parts = parts;
  }

  async putTimers(requests: (CreateTimer | Refusal)[], by: Actor): Promise<TimerPutOutcome[]> {
    const timers = requests.flatMap((one) => ("kind" in one ? [] : [newTimerOf(one)]));
    const put = timers.length === 0 ? [] : await this.#parts.store.put(timers, newAction("timer.create", by));
    if (put.some(({ kind }) => kind === "created" || kind === "replaced")) this.#parts.wake();
    let next = 0;
    return requests.map((one) => ("kind" in one ? one : answerOf(put[next++] as PutOutcome)));
  }

  findTimer(id: TimerId): Promise<TimerView | undefined> {
    return this.#parts.store.find(id);
  }

  async listTimers(query: TimerQuery): Promise<TimerPage> {
    const { last, ...page } = await this.#parts.store.list(query);
    return { ...page, nextCursor: last === undefined ? null : encodeTimerCursor(last) };
  }

  async cancelTimer(id: TimerId, by: Actor): Promise<{ kind: "cancelled"; timer: TimerView } | Refusal> {
    const outcome = await this.#parts.store.cancel(id, newAction("timer.cancel", by));
    if (outcome.kind === "not-found") return { kind: "problem", code: "timer-not-found" };
    const { timer } = outcome;
    switch (timer.status) {
      case "Cancelled": // also one that was before: safe to repeat
        return { kind: "cancelled", timer };
      case "Firing":
      case "Fired":
        return { kind: "problem", code: "already-fired", detail: detailOf(timer) };
      case "Expired":
        return { kind: "problem", code: "timer-over", detail: `It expired at ${timer.endedAt}` };
      case "Waiting": // it was Firing a moment ago, and came back
        return { kind: "problem", code: "already-fired", detail: "No queue took it just now; ask again to cancel it" };
      default:
        return timer.status satisfies never;
    }
  }
}

const detailOf = ({ status, endedAt }: TimerView): string =>
  status === "Fired" ? `It fired at ${endedAt}` : "It is being fired, or has been";

const answerOf = (outcome: PutOutcome): TimerPutOutcome =>
  outcome.kind === "over" ? { kind: "problem", code: "timer-over" } : outcome;

const newTimerOf = ({ id, name, payload, at, expiresAt }: CreateTimer): NewTimer => ({
  id,
  name,
  payload,
  at: isoOf(at),
  expiresAt: expiresAt === undefined ? undefined : isoOf(expiresAt),
});

/** A text keeps its microseconds. */
const isoOf = (instant: Instant): string =>
  typeof instant === "string" ? instant : new Date(instantMs(instant)).toISOString();
