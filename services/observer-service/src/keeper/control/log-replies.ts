import type { Publisher } from "@unacked/broker";
import { EXCHANGES, type LogReply, newMessageId, type ReadLogs, type ServiceId } from "@unacked/contracts";
import type { RunTail } from "../runs/run-tail.ts";
import type { Runner } from "../runs/runner.ts";

/** With more replies than this on their way the next is dropped: the manager asks again. */
const MAX_WAITING = 100;

export interface LogRepliesParts {
  readonly serviceId: ServiceId;
  readonly publisher: Pick<Publisher, "publish" | "status">;
  readonly runner: Pick<Runner, "runs" | "tails">;
}

/**
 * Answers the manager's questions about a run's lines. An answer is never stored, never sent again, and not sent at all
 * while the broker takes nothing, so that it can neither wait in memory nor hold up the events of runs.
 */
export class LogReplies {
  readonly #parts: LogRepliesParts;
  #waiting = 0;

  constructor(parts: LogRepliesParts) {
    this.#parts = parts;
  }

  answer(request: ReadLogs): void {
    const { serviceId, publisher } = this.#parts;
    const { up, blocked } = publisher.status;
    if (!up || blocked || this.#waiting >= MAX_WAITING) return;
    const { requestId, replyTo, runId, afterSeq, limit } = request;
    const { state, tail } = this.#find(request);
    const reply: LogReply = {
      kind: "LogReply",
      requestId,
      serviceId,
      runId,
      state,
      lastSeq: tail?.lastSeq ?? 0,
      entries: tail?.after(afterSeq, limit) ?? [],
    };
    this.#waiting += 1;
    const message = {
      exchange: EXCHANGES.replies.name,
      routingKey: replyTo,
      type: "LogReply",
      messageId: newMessageId(),
      appId: serviceId,
      persistent: false,
      mandatory: false,
      body: reply,
    };
    const settled = (): void => {
      this.#waiting -= 1;
    };
    // The asker finds out whether it arrived.
    publisher.publish(message).then(settled, settled);
  }

  #find({ observerId, runId }: ReadLogs): Pick<LogReply, "state"> & { tail: RunTail | undefined } {
    const { runs, tails } = this.#parts.runner;
    const run = runs.find(observerId, runId);
    if (run !== undefined) return { state: "running", tail: run.tail };
    const tail = tails.ofEnded(runId);
    return { state: tail === undefined ? "unknown" : "ended", tail };
  }
}
