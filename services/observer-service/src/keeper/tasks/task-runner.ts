import { MAX_INTERRUPTION, type SendId, type StartTask, type TaskId } from "@unacked/contracts";
import { sendableText } from "../../error-text.ts";
import type { Log } from "../../log.ts";
import type { TaskTypeEntry } from "../../wire/messages.ts";
import { isStronger, type StopCause } from "../../wire/stop-cause.ts";
import type { Handlers } from "../runs/handlers.ts";
import { FailedTasks } from "./failed-tasks.ts";
import type { Paces } from "./paces.ts";
import { RoomWait } from "./room-wait.ts";
import { SingleTasks } from "./single-tasks.ts";
import { TaskAdmission } from "./task-admission.ts";
import { TaskBatch } from "./task-batch.ts";
import { TaskBatches } from "./task-batches.ts";
import type { TaskFate } from "./task-end.ts";
import { TaskFates } from "./task-fates.ts";
import { TaskLane } from "./task-lane.ts";
import { TaskLanes } from "./task-lanes.ts";
import type { TaskMessage } from "./task-message.ts";
import { TaskRun } from "./task-run.ts";
import { TaskRuns } from "./task-runs.ts";
import { TaskTeller, type TaskTellerParts } from "./task-teller.ts";
import { TimeLimits } from "./time-limits.ts";
import { WorkerLine } from "./worker-line.ts";

export interface TaskRunnerParts extends TaskTellerParts {
  readonly handlers: Handlers;
  readonly types: ReadonlyMap<string, TaskTypeEntry>;
  /** How many tasks run at once. */
  readonly workers: number;
  readonly paces: Pick<Paces, "note">;
  /** Called when the broker has taken back what it had given to this generation. */
  readonly takenBack: (generation: number) => void;
  readonly stopTimeoutMs: number;
  readonly log: Log;
}

const interruptionOf = (fate: TaskFate): string | undefined =>
  fate.kind === "again" && fate.why !== undefined ? sendableText(fate.why, MAX_INTERRUPTION) : undefined;

const NO_TAIL = { line: () => undefined, value: () => undefined, thrown: () => undefined };

/**
 * Receives delivered tasks, orders to cancel, settled handlers, timers. Guarantees: each message is settled once, after its task's
 * report is confirmed and under a held lease; one task never runs twice here. A crash in the middle leaves the message unacked: it
 * runs again, here or elsewhere.
 */
export class TaskRunner {
  readonly #parts: TaskRunnerParts;
  readonly #runs = new TaskRuns();
  readonly #teller: TaskTeller;
  readonly #fates: TaskFates;
  readonly #failed: FailedTasks;
  readonly #admission: TaskAdmission;
  readonly #singles: SingleTasks;
  readonly #batches: TaskBatches;
  readonly #lanes: TaskLanes;
  readonly #line: WorkerLine<TaskRun | TaskBatch | TaskLane>;

  constructor(parts: TaskRunnerParts) {
    this.#parts = parts;
    this.#teller = new TaskTeller(parts);
    this.#fates = new TaskFates(parts.types);
    this.#failed = new FailedTasks(parts.log);
    const stop = (run: TaskRun, cause: StopCause): void => this.#stop(run, cause);
    this.#admission = new TaskAdmission({ ...parts, runs: this.#runs, teller: this.#teller, stop });
    const giveUp = (run: TaskRun): void => this.#end(run, { kind: "return", isRedelivered: false });
    this.#line = new WorkerLine<TaskRun | TaskBatch | TaskLane>({
      workers: parts.workers,
      begin: (one) => {
        if (one instanceof TaskLane) one.begin(giveUp);
        else if (one instanceof TaskBatch) this.#batches.begin(one);
        else this.#singles.begin(one);
      },
      giveUp: (one) => {
        for (const run of one instanceof TaskRun ? [one] : [...one.left]) giveUp(run);
      },
    });
    const basics = {
      publish: () => Promise.reject(new Error("a task has no emit")),
      stopTimeoutMs: parts.stopTimeoutMs,
      tracing: undefined,
      tailOf: () => NO_TAIL,
    };
    const shared = {
      ...parts,
      basics,
      fates: this.#fates,
      roomWait: new RoomWait(parts),
      timeLimits: new TimeLimits(parts.types),
      stop,
      end: (run: TaskRun, fate: TaskFate): void => this.#end(run, fate),
    };
    this.#batches = new TaskBatches({
      ...shared,
      // A task that was never reported as Running goes together with the others again, but not for ever.
      begun: (run) => {
        run.begins();
        this.#teller.started(run, true);
      },
    });
    this.#singles = new SingleTasks({
      ...shared,
      teller: this.#teller,
      notBegun: (run) => {
        this.#lanes.notBegun(run);
        this.#runs.look();
      },
    });
    this.#lanes = new TaskLanes({
      ...parts,
      host: this.#singles.host,
      begin: (run) => this.#singles.begin(run),
      begun: (run) => this.#singles.begunBehind(run),
    });
  }

  /** How many tasks have, or wait for, a handler. */
  get size(): number {
    return this.#runs.size;
  }

  /** Whether at least half as many wait for a worker as there are workers. */
  get isStocked(): boolean {
    return this.#line.isStocked;
  }

  /** The messages of these tasks. */
  get messages(): ReadonlySet<TaskMessage> {
    return new Set(this.#runs.all().map(({ message }) => message));
  }

  /** The sends whose messages are held, or were given back lately. */
  get held(): SendId[] {
    return this.#teller.held;
  }

  /** These were not looked at, and their message goes back to the queue. */
  letGo(tasks: readonly StartTask[]): void {
    for (const { sendId } of tasks) this.#teller.letGo(sendId);
  }

  accept(task: StartTask, message: TaskMessage): void {
    const run = this.#admission.admit(task, message);
    if (run !== undefined) this.#line.enter(run);
  }

  /** Takes tasks that came together: one call for many, if their type takes batches. */
  acceptBundle(tasks: readonly StartTask[], message: TaskMessage): void {
    const [first] = tasks;
    const size = first && this.#parts.types.get(first.type)?.batch;
    if (first === undefined || size === undefined) {
      for (const task of tasks) this.accept(task, message);
      return;
    }
    const runs = tasks.flatMap((task) => this.#admission.admit(task, message) ?? []);
    // The first to begin may find the lease lost, and then nothing is left of the others.
    for (const batch of this.#batches.divide(first.type, runs, size)) if (batch.left.size > 0) this.#line.enter(batch);
  }

  /** Takes tasks that came together and run in turn. */
  acceptLane(tasks: readonly StartTask[], message: TaskMessage): void {
    const runs = tasks.flatMap((task) => this.#admission.admit(task, message) ?? []);
    if (runs.length > 0) this.#line.enter(this.#lanes.make(runs));
  }

  /** A bundle that was given out before goes back: the manager knows what is still to be done. */
  giveBack(tasks: readonly StartTask[], message: TaskMessage): void {
    this.#admission.giveBack(tasks, message);
  }

  /** Ends that attempt for good. If there is none, its message is refused when it comes. */
  cancel(taskId: TaskId, sendId: SendId): void {
    const runs = this.#runs.ofSend(taskId, sendId);
    for (const run of runs.toReversed()) this.#stop(run, { kind: "stopped" }); // nothing begins when the one before it ends
    if (runs.length === 0) this.#admission.refuse(sendId);
  }

  /** Called every few seconds. */
  tellRunning(): void {
    const isUnderWay = ({ isRunning, beganMs, cause }: TaskRun): boolean => isRunning && beganMs > 0 && cause === undefined;
    this.#teller.running(this.#runs.all().filter(isUnderWay));
  }

  stopAll(cause: StopCause): void {
    for (const run of this.#runs.all()) this.#stop(run, cause);
  }

  fence(): void {
    this.stopAll({ kind: "lease-lost" });
  }

  /** The ids of tasks of this or an earlier generation whose handler still runs. */
  unsettled(generation: number): string[] {
    return this.#runs.unsettled(generation).map(({ task }) => task.taskId);
  }

  settled(generation: number): Promise<void> {
    return this.#runs.until(() => this.unsettled(generation).length === 0);
  }

  idle(): Promise<void> {
    return this.#runs.until(() => this.#runs.size === 0);
  }

  endForCertain(generation: number): boolean {
    return this.#parts.handlers.endForCertain(this.#runs.unsettled(generation).map((run) => this.#batches.of(run) ?? run));
  }

  #stop(run: TaskRun, cause: StopCause): void {
    if (run.cause !== undefined && !isStronger(cause, run.cause)) return;
    run.cause = cause;
    const batch = this.#batches.of(run);
    if (run.isRunning) return batch === undefined ? run.attempt?.abort(cause) : batch.stop(run, cause);
    // It waits for another run of its task to settle.
    this.#end(run, this.#fates.interrupted(run));
  }

  #end(run: TaskRun, fate: TaskFate): void {
    clearTimeout(run.timer);
    run.isRunning = false;
    if (fate.kind === "end" && fate.fact.outcome === "failed" && fate.fact.retryInMs === null)
      this.#failed.note(run, fate.fact.error);
    const batch = this.#batches.of(run);
    const isAgain = fate.kind === "again" && this.#parts.holds(run.message.generation);
    const why = isAgain ? interruptionOf(fate) : undefined;
    if (isAgain && batch === undefined) return this.#again(run, why);
    // It came with others, so it cannot go back to the queue alone.
    const isPart = run.message.isShared && fate.kind === "release" && fate.isOurs;
    // If a batch was interrupted, nobody knows which task did it, so each goes on alone.
    this.#teller.end(run, isAgain || isPart ? { kind: "return", isRedelivered: isAgain, interruption: why } : fate);
    this.#leaveLine(run);
    this.#remove(run);
  }

  /** Frees its worker, unless it shares one with others and is not the last of these. */
  #leaveLine(run: TaskRun): void {
    const [lane, batch] = [this.#lanes.of(run), this.#batches.of(run)];
    if (lane === undefined && batch === undefined) this.#leave(run);
    if (lane !== undefined && this.#lanes.leave(run, lane)) this.#line.leave(lane);
    if (batch !== undefined && this.#batches.leave(run, batch)) this.#leave(batch);
  }

  #leave(one: TaskRun | TaskBatch): void {
    clearTimeout(one.timer);
    this.#parts.handlers.forget(one);
    this.#line.leave(one);
  }

  #again(run: TaskRun, why: string | undefined): void {
    const next = run.successor(why);
    this.#teller.handOver(run, next);
    this.#runs.replace(run, next);
    if (this.#lanes.replace(run, next)) return;
    this.#line.handOver(run, next);
    this.#singles.begin(next);
  }

  #remove(run: TaskRun): void {
    const next = this.#runs.remove(run);
    if (next !== undefined) this.#line.enter(next);
    this.#runs.look();
  }
}
