import type { CreateTimer, TimerId, TimerPage, TimerView } from "@unacked/contracts";
import type { Actor } from "../../domain/access/identity.ts";
import { newAction } from "../access/audit.ts";
import { encodeTimerCursor } from "../cursor.ts";
import type { Refusal } from "../refusal.ts";
import { sizeOfParams, Together } from "../together.ts";
import { cancelOutcomeOf, isTimerChange, newTimerOf, putOutcomesOf } from "./timer-outcomes.ts";
import type { CancelOutcome, PutOutcome, TimerCancel, TimerPut, TimerQuery, TimerStore } from "./timer-store.ts";
import type { TimerCancelOutcome, TimerPutOutcome, TimerTools } from "./timer-tools.ts";

export interface TimerDeskParts {
  store: TimerStore;
  /** Something may be due earlier. */
  wake(): void;
}

/** How many single requests share a transaction when many arrive at once; fewer where their payloads are long. */
const MAX_TOGETHER = 1_000;
/** Nobody knows how long the payloads are with which cancels will be answered: those of so many have 8 MiB at most. */
const MAX_CANCELS_TOGETHER = 128;

const sizeOfAll = (puts: TimerPut[]): number => puts.reduce((sum, { timer }) => sum + sizeOfParams(timer.payload), 0);

export class TimerDesk implements TimerTools {
  readonly #parts: TimerDeskParts;
  readonly #puts: Together<TimerPut[], PutOutcome[]>;
  readonly #cancels: Together<TimerCancel, CancelOutcome>;

  constructor(parts: TimerDeskParts) {
    this.#parts = parts;
    const { store } = parts;
    this.#puts = new Together({
      maxSize: MAX_TOGETHER,
      sizeOf: sizeOfAll,
      keysOf: (puts) => puts.map(({ timer }) => timer.id),
      run: async (together) => {
        const outcomes = await store.put(together.flat());
        let next = 0;
        return together.map((puts) => outcomes.slice(next, (next += puts.length)));
      },
    });
    this.#cancels = new Together({
      maxSize: MAX_CANCELS_TOGETHER,
      keysOf: ({ id }) => [id],
      run: (together) => store.cancel(together),
    });
  }

  async putTimers(requests: (CreateTimer | Refusal)[], by: Actor): Promise<TimerPutOutcome[]> {
    const action = newAction("timer.create", by);
    const puts = requests.flatMap((one) => ("kind" in one ? [] : [{ timer: newTimerOf(one), action }]));
    const outcomes = await this.#put(puts);
    if (outcomes.some(isTimerChange)) this.#parts.wake();
    return putOutcomesOf(requests, outcomes);
  }

  /** As many puts as fill a transaction hold up no single ones. */
  #put(puts: TimerPut[]): Promise<PutOutcome[]> | PutOutcome[] {
    if (puts.length === 0) return [];
    return puts.length >= MAX_TOGETHER ? this.#parts.store.put(puts) : this.#puts.do(puts);
  }

  findTimer(id: TimerId): Promise<TimerView | undefined> {
    return this.#parts.store.find(id);
  }

  async listTimers(query: TimerQuery): Promise<TimerPage> {
    const { last, ...page } = await this.#parts.store.list(query);
    return { ...page, nextCursor: last === undefined ? null : encodeTimerCursor(last) };
  }

  async cancelTimer(id: TimerId, by: Actor): Promise<TimerCancelOutcome> {
    return cancelOutcomeOf(await this.#cancels.do({ id, action: newAction("timer.cancel", by) }));
  }
}
