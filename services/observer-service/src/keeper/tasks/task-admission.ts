import type { SendId, StartTask } from "@unacked/contracts";
import type { Log } from "../../log.ts";
import type { StopCause } from "../../wire/stop-cause.ts";
import type { TaskMessage } from "./task-message.ts";
import { TaskRun } from "./task-run.ts";
import type { TaskRuns } from "./task-runs.ts";
import type { TaskTeller } from "./task-teller.ts";

export interface TaskAdmissionParts {
  readonly runs: TaskRuns;
  readonly teller: TaskTeller;
  /** Whether the lease of that generation is held. */
  readonly holds: (generation: number) => boolean;
  /** Called when the broker has taken back what it had given to this generation. */
  readonly takenBack: (generation: number) => void;
  readonly stop: (run: TaskRun, cause: StopCause) => void;
  readonly log: Log;
}

/** How many cancelled sends are remembered whose messages have yet to come. The oldest goes first. */
const MAX_REMEMBERED = 20_000;

/**
 * Decides whether a delivered task is run: not if it is here already, if nobody wants it, or if the broker had given it to us
 * before.
 */
export class TaskAdmission {
  readonly #parts: TaskAdmissionParts;
  /** Sends that were cancelled before their message came here; it may have gone elsewhere. In the order of the orders. */
  readonly #cancelled = new Set<SendId>();

  constructor(parts: TaskAdmissionParts) {
    this.#parts = parts;
  }

  /** Refuses its message, if that comes. */
  refuse(sendId: SendId): void {
    this.#cancelled.add(sendId);
    const [oldest] = this.#cancelled;
    if (this.#cancelled.size > MAX_REMEMBERED && oldest !== undefined) this.#cancelled.delete(oldest);
  }

  /**
   * @returns it, if it is to begin when a worker is free; not what is here already, is not wanted, waits for another of its task, or is older
   * than that: published late, after its absence had been proven, and sent again
   */
  admit(task: StartTask, message: TaskMessage): TaskRun | undefined {
    const { runs, teller, holds, takenBack, stop, log } = this.#parts;
    const run = new TaskRun(task, message, log);
    const known = runs.of(task.taskId);
    const same = known.find((one) => one.task.sendId === task.sendId && holds(one.message.generation));
    if (same !== undefined) {
      // If the same message comes again, the broker has taken it back. Another one of the same send is not needed.
      if (message.deliveryCount > same.message.deliveryCount) takenBack(message.generation);
      else message.settle("ack");
      return undefined;
    }
    if (known.some((one) => holds(one.message.generation) && isOlder(task, one.task))) {
      log.warn(
        { event: "old-send-dropped", task: task.taskId },
        "a message of an older send of a task that runs here was dropped",
      );
      message.settle("ack");
      return undefined;
    }
    teller.hold(run);
    // The broker has taken its message back before it was acked, or has two of it. By the books, which hear of its end first, it is over.
    if (teller.hasEnded(task.sendId)) {
      log.info({ event: "ended-send-returned", task: task.taskId }, "a message of a send that has ended here came again");
      teller.end(run, { kind: "return", isRedelivered: true });
      return undefined;
    }
    if (this.#cancelled.delete(task.sendId)) {
      teller.end(run, { kind: "end", fact: { outcome: "cancelled" } });
      return undefined;
    }
    runs.put(run);
    if (known.length === 0) return run;
    for (const one of known) stop(one, { kind: "obsolete" });
    return undefined;
  }

  /** A bundle that was given out before goes back: the manager knows what is still to be done. */
  giveBack(tasks: readonly StartTask[], message: TaskMessage): void {
    const { runs, teller, holds, takenBack, log } = this.#parts;
    const holdsOne = tasks.some(({ taskId, sendId }) =>
      runs.of(taskId).some((run) => run.task.sendId === sendId && holds(run.message.generation)),
    );
    if (holdsOne) return takenBack(message.generation);
    for (const task of tasks) {
      const run = new TaskRun(task, message, log);
      teller.hold(run);
      teller.end(run, { kind: "return", isRedelivered: true });
    }
  }
}

/** Whether it is an older send of the same task. If a manager does not say, the later arrival counts as newer. */
const isOlder = ({ sends = Number.POSITIVE_INFINITY }: StartTask, other: StartTask): boolean => sends < (other.sends ?? 0);
