import { LET_GO_KEPT_MS, MAX_TOLD_RUNNING, type SendId, type TaskEnded, type TaskEvent } from "@unacked/contracts";
import { Lately } from "../lately.ts";
import type { TaskFate } from "./task-end.ts";
import type { TaskRun } from "./task-run.ts";

export interface TaskTellerParts {
  readonly events: { tell(event: TaskEvent, onConfirmed?: () => void, isPatient?: boolean): void };
  /** Whether the lease of that generation is held. If its deadline has passed, this fences first. */
  readonly holds: (generation: number) => boolean;
  readonly onEnded?: ((how: TaskEnded["outcome"] | "released" | "returned") => void) | undefined;
}

const SAID_EVERY_MS = 30_000;
/** Its message may wait in the queue for long, where the connection was lost before it was acked. */
const ENDED_KEPT_MS = 600_000;

/**
 * Reports tasks to the manager and the broker. Guarantees: a message is settled once, after its task's report is confirmed,
 * and under a held lease; until then it counts as held.
 */
export class TaskTeller {
  readonly #parts: TaskTellerParts;
  /** The runs whose message has yet to be settled. */
  readonly #held = new Map<TaskRun, SendId>();
  /**
   * Sends that went back to the queue without an event that the manager had to hear. On its way back a message is behind what has passed
   * meanwhile, and in nobody's inventory. An inventory takes some 65,000.
   */
  readonly #letGo = new Lately<SendId>({ keptMs: LET_GO_KEPT_MS, most: 20_000 });
  /** Sends with a message of their own whose end, or return, was told. */
  readonly #ended = new Lately<SendId>({ keptMs: ENDED_KEPT_MS, most: 20_000 });
  /** When long runs were last reported. */
  #saidMs = Number.NEGATIVE_INFINITY;
  #isSayingWhatRuns = false;

  constructor(parts: TaskTellerParts) {
    this.#parts = parts;
  }

  /** The sends whose messages are held, or were given back lately. */
  get held(): SendId[] {
    return [...this.#held.values(), ...this.#letGo.since(performance.now()).map(([sendId]) => sendId)];
  }

  /** The message goes back to the queue. */
  letGo(sendId: SendId): void {
    this.#letGo.note(sendId, performance.now());
  }

  /** Whether that send has ended here: to run it again would be in vain, and may not be confirmed yet. */
  hasEnded(sendId: SendId): boolean {
    return this.#ended.has(sendId, performance.now());
  }

  hold(run: TaskRun): void {
    this.#held.set(run, run.task.sendId);
  }

  /** The message now belongs to the other run. */
  handOver(from: TaskRun, to: TaskRun): void {
    this.#held.delete(from);
    this.hold(to);
  }

  /** @param isPatient it may be told a little later, with its end */
  started(run: TaskRun, isPatient: boolean): void {
    const { task, runId, startedAt: at, interruption } = run;
    const { taskId, sendId } = task;
    this.#parts.events.tell({ kind: "TaskStarted", taskId, sendId, runId, at, interruption }, undefined, isPatient);
  }

  /**
   * Reports long runs every 30 s: nobody may want them any more, and the order to end one may be lost, as it is given once to runs that the
   * manager does not know. Not repeated while the last report waits, as under an alarm.
   */
  running(runs: readonly TaskRun[]): void {
    const nowMs = performance.now();
    if (this.#isSayingWhatRuns || nowMs - this.#saidMs < SAID_EVERY_MS) return;
    const { events, holds } = this.#parts;
    const long = runs.filter((run) => nowMs - run.beganMs >= SAID_EVERY_MS && holds(run.message.generation));
    if (long.length === 0) return;
    this.#saidMs = nowMs;
    this.#isSayingWhatRuns = true;
    const tasks = long.map(({ task: { taskId, sendId } }) => ({ taskId, sendId }));
    for (let from = 0; from < tasks.length; from += MAX_TOLD_RUNNING)
      events.tell({ kind: "TasksRunning", tasks: tasks.slice(from, from + MAX_TOLD_RUNNING) }, () => {
        this.#isSayingWhatRuns = false;
      });
  }

  /** The only place where an attempt's end becomes an event and its message is settled. */
  end(run: TaskRun, fate: TaskFate): void {
    const { events, onEnded } = this.#parts;
    const { runId, startedAt, interruption } = run;
    const { taskId, sendId } = run.task;
    const at = Date.now();
    if (!run.message.isShared && (fate.kind === "end" || fate.kind === "return"))
      this.#ended.note(sendId, performance.now());
    switch (fate.kind) {
      case "end":
        onEnded?.(fate.fact.outcome);
        return events.tell({ kind: "TaskEnded", taskId, sendId, runId, at, startedAt, interruption, ...fate.fact }, () =>
          this.#settle(run, "ack"),
        );
      case "release":
        onEnded?.("released");
        return events.tell({ kind: "TaskReleased", taskId, sendId, runId, at }, () =>
          this.#settle(run, fate.isOurs ? "requeue" : "leave"),
        );
      case "return": {
        onEnded?.("returned");
        const { kind: _kind, ...why } = fate;
        return events.tell({ kind: "TaskReturned", taskId, sendId, at, ...why }, () => this.#settle(run, "ack"));
      }
      case "again": // the lease is lost
        return events.tell({ kind: "TaskReleased", taskId, sendId, runId, at }, () => this.#settle(run, "leave"));
      case "drop":
        return this.#settle(run, "ack");
      default:
        return fate satisfies never;
    }
  }

  #settle(run: TaskRun, how: "ack" | "requeue" | "leave"): void {
    this.#held.delete(run);
    if (how === "requeue") this.letGo(run.task.sendId);
    if (how !== "leave" && this.#parts.holds(run.message.generation)) run.message.settle(how);
  }
}
