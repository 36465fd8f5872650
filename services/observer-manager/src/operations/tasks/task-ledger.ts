import { TASK_OVER_STATUSES, type TaskEventBatch, type TaskId } from "@unacked/contracts";
import { newsOf, type TaskNews, type TaskWord } from "../../domain/tasks/task-words.ts";
import type { TaskTally } from "../tally.ts";
import type { TaskCreations } from "./task-creations.ts";
import type { TaskLedgerStore, UnwantedAttempt } from "./task-store.ts";

export interface TaskLedgerParts {
  store: TaskLedgerStore;
  creations: Pick<TaskCreations, "of">;
  tally: TaskTally;
  /** Attempts that nobody wants: they are told to end. */
  unwanted(attempts: UnwantedAttempt[]): void;
  /** `made`: what of it lets others begin. Room alone, or perhaps more: something that is due again, or is new, or somebody new to run it. */
  committed(over: TaskId[], told: { hasFlowEnds: boolean; made: "nothing" | "room" | "more" }): void;
}

/**
 * Comes in: batches of the tasks' state queue, in order. Guarantees: what they say is written in one transaction, or not at all; a
 * batch that was applied before changes nothing; of a send that is not the current one nothing is written. A crash before the
 * commit leaves the messages in the queue; after it, their redelivery is known by its number.
 */
export class TaskLedger {
  readonly #parts: TaskLedgerParts;

  constructor(parts: TaskLedgerParts) {
    this.#parts = parts;
  }

  /** Rejects when the database cannot be reached; all can be given again. @param isPerhapsOld one of them was delivered before */
  async apply(batches: TaskEventBatch[], isPerhapsOld: boolean): Promise<void> {
    const { store, creations, tally, unwanted, committed } = this.#parts;
    const fresh = isPerhapsOld ? await this.#fresh(batches) : batches;
    if (fresh.length === 0) return;
    const news = newsOf(fresh);
    const created = await creations.of(news.words);
    const result = await store.apply(news, created);
    if (result.unwanted.length > 0) unwanted(result.unwanted);
    for (const status of TASK_OVER_STATUSES) {
      const count = result.over.filter((one) => one.status === status).length;
      if (count > 0) tally.ended(status, count);
    }
    const over = result.over.map(({ id }) => id);
    committed(over, { hasFlowEnds: result.hasFlowEnds, made: created.size > 0 ? "more" : madeBy(news, new Set(over)) });
  }

  async #fresh(batches: TaskEventBatch[]): Promise<TaskEventBatch[]> {
    const last = await this.#parts.store.lastSeqs([...new Set(batches.map(({ serviceId }) => serviceId))]);
    return batches.filter(({ serviceId, seq }) => {
      const isFresh = seq > (last.get(serviceId) ?? 0);
      if (isFresh) last.set(serviceId, seq);
      return isFresh;
    });
  }
}

function madeBy({ words, workers }: TaskNews, over: ReadonlySet<TaskId>): "nothing" | "room" | "more" {
  const isBack = ({ taskId, end, returned }: TaskWord) => (end !== undefined || returned !== undefined) && !over.has(taskId);
  if (workers.length > 0 || words.some(isBack)) return "more";
  return over.size > 0 ? "room" : "nothing";
}
