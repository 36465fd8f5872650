import { type ServiceId, TASK_OVER_STATUSES, type TaskEventBatch, type TaskId } from "@unacked/contracts";
import { newsOf, type TaskNews, type TaskWord } from "../../../domain/tasks/task-words.ts";
import type { TaskTally } from "../../tally.ts";
import type { UnwantedSend } from "../unwanted-send.ts";
import type { RefusedParams } from "./refused-params.ts";
import type { TaskCreations } from "./task-creations.ts";
import { AppliedBefore, type TaskLedgerStore } from "./task-ledger-store.ts";

export interface TaskLedgerParts {
  store: TaskLedgerStore;
  creations: Pick<TaskCreations, "of">;
  refused: Pick<RefusedParams, "turnedAway">;
  tally: TaskTally;
  /** Sends that nobody wants: they are told to end. */
  unwanted(sends: UnwantedSend[]): void;
  /**
   * `made`: what of it lets others begin. It is room alone, or perhaps more: something that is due again, or is new, or somebody new to run
   * it.
   */
  committed(over: TaskId[], told: { hasFlowEnds: boolean; made: "nothing" | "room" | "more" }): void;
  /** Something that was told in these pools is not in the books, and never will be: a promoted standby lacks it, or nobody could read it. */
  behind(pools: string[]): void;
}

/**
 * Comes in: batches of the tasks' state queue, in order. Guarantees: what they say is written in one transaction, or not at all; a
 * batch that was applied before changes nothing, whoever has applied it and whether he knows; of a send that is not the current one
 * nothing is written. A crash before the commit leaves the messages in the queue; after it, they are known by their numbers.
 */
export class TaskLedger {
  readonly #parts: TaskLedgerParts;

  constructor(parts: TaskLedgerParts) {
    this.#parts = parts;
  }

  /** Rejects when the database cannot be reached; all can be given again. @param isPerhapsOld one of them was delivered before */
  async apply(batches: TaskEventBatch[], isPerhapsOld: boolean): Promise<void> {
    for (let fresh = newer(batches), isOld = isPerhapsOld; ; isOld = true) {
      if (isOld) fresh = newer(fresh, await this.#lastSeqs(fresh));
      if (fresh.length === 0) return;
      try {
        await this.#write(newsOf(fresh));
        return;
      } catch (error) {
        if (!(error instanceof AppliedBefore)) throw error;
      }
    }
  }

  /** Applies a part of a message, the rest of which comes after it: its number is not known yet when this is written. */
  async applyPart(part: TaskEventBatch): Promise<void> {
    const news = newsOf([part]);
    for (const told of news.seqs.values()) told.seq -= 1;
    try {
      await this.#write(news);
    } catch (error) {
      if (!(error instanceof AppliedBefore)) throw error;
    }
  }

  async #write(told: TaskNews): Promise<void> {
    const { store, creations, refused, tally, unwanted, committed, behind } = this.#parts;
    const news = await refused.turnedAway(told);
    const created = await creations.of(news.words);
    const result = await store.apply(news, created);
    if (result.unwanted.length > 0) unwanted(result.unwanted);
    if (result.behind.length > 0) behind(result.behind);
    for (const status of TASK_OVER_STATUSES) {
      const count = result.over.filter((one) => one.status === status).length;
      if (count > 0) tally.ended(status, count);
    }
    const over = result.over.map(({ id }) => id);
    committed(over, { hasFlowEnds: result.hasFlowEnds, made: created.size > 0 ? "more" : madeBy(news, new Set(over)) });
  }

  #lastSeqs(batches: TaskEventBatch[]): Promise<Map<ServiceId, number>> {
    return this.#parts.store.lastSeqs([...new Set(batches.map(({ serviceId }) => serviceId))]);
  }
}

/** Those of these that come after the last of their service, each once. */
function newer(batches: TaskEventBatch[], last = new Map<ServiceId, number>()): TaskEventBatch[] {
  return batches.filter(({ serviceId, seq }) => {
    const isNewer = seq > (last.get(serviceId) ?? 0);
    if (isNewer) last.set(serviceId, seq);
    return isNewer;
  });
}

function madeBy({ words, workers }: TaskNews, over: ReadonlySet<TaskId>): "nothing" | "room" | "more" {
  const isBack = ({ taskId, end, returned }: TaskWord) => (end !== undefined || returned !== undefined) && !over.has(taskId);
  if (workers.length > 0 || words.some(isBack)) return "more";
  return over.size > 0 ? "room" : "nothing";
}
