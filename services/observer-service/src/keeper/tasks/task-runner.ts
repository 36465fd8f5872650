import type { SendId, StartTask, TaskId } from "@unacked/contracts";
import { thrownText } from "../../error-text.ts";
import type { Log } from "../../log.ts";
import type { TaskTypeEntry } from "../../wire/messages.ts";
import { isStronger, type StopCause } from "../../wire/stop-cause.ts";
import type { HandlerHost, Handlers } from "../runs/handlers.ts";
import type { Paces } from "./paces.ts";
import { TaskBatch } from "./task-batch.ts";
import { badParams, fateOf, fateOfInterrupted, memberEnd, type TaskFate, type TaskLimits, timeIsUp } from "./task-end.ts";
import { TaskLane } from "./task-lane.ts";
import type { TaskMessage } from "./task-message.ts";
import { TaskRun } from "./task-run.ts";
import { TaskRuns } from "./task-runs.ts";
import { TaskTeller, type TaskTellerParts } from "./task-teller.ts";
import { WorkerLine } from "./worker-line.ts";

export interface TaskRunnerParts extends TaskTellerParts {
  readonly handlers: Handlers;
  readonly types: ReadonlyMap<string, TaskTypeEntry>;
  /** How many run at once. */
  readonly workers: number;
  readonly paces: Pick<Paces, "note">;
  /** The broker has taken back what it had given to this generation. */
  readonly takenBack: (generation: number) => void;
  readonly stopTimeoutMs: number;
  readonly log: Log;
}

/** Cancelled sends whose messages have yet to come are remembered: so many, the oldest goes first. */
const MAX_REMEMBERED = 20_000;

const NO_TAIL = { line: () => undefined, value: () => undefined, thrown: () => undefined };

/**
 * Comes in: tasks that were delivered, orders to cancel, settled handlers, timers. Guarantees: each message is settled once, after
 * what is to be told of it is confirmed and under a held lease; one task never runs twice here. A crash in the middle leaves the
 * message unacked: it runs again, here or elsewhere.
 */
export class TaskRunner {
  readonly #parts: TaskRunnerParts;
  readonly #host: HandlerHost<TaskRun>;
  readonly #batchHost: HandlerHost<TaskBatch>;
  readonly #runs = new TaskRuns();
  readonly #teller: TaskTeller;
  /** Cancelled before their message came here; it may have gone elsewhere. In the order of the orders. */
  readonly #cancelled = new Set<SendId>();
  /** Those that are one of many in a call. */
  readonly #batches = new Map<TaskRun, TaskBatch>();
  /** Those that wait for others of their message, or others for them. */
  readonly #lanes = new Map<TaskRun, TaskLane>();
  readonly #line: WorkerLine<TaskRun | TaskBatch | TaskLane>;

  constructor(parts: TaskRunnerParts) {
    this.#parts = parts;
    this.#teller = new TaskTeller(parts);
    const giveUp = (run: TaskRun): void => this.#end(run, { kind: "return", isRedelivered: false });
    this.#line = new WorkerLine<TaskRun | TaskBatch | TaskLane>({
      workers: parts.workers,
      begin: (one) => {
        if (one instanceof TaskLane) one.begin(giveUp);
        else if (one instanceof TaskBatch) this.#beginBatch(one);
        else this.#begin(one);
      },
      giveUp: (one) => {
        for (const run of one instanceof TaskRun ? [one] : [...one.left]) giveUp(run);
      },
    });
    const common = {
      publish: () => Promise.reject(new Error("a task has no emit")),
      stopTimeoutMs: parts.stopTimeoutMs,
      tracing: undefined,
      tailOf: () => NO_TAIL,
    };
    this.#batchHost = { ...common, ...this.#endsOfBatches() };
    this.#host = {
      ...common,
      onSettled: (run, outcome, word = {}) => {
        if (run.cause === undefined) parts.paces.note(run.task.type, performance.now() - run.beganMs);
        this.#end(run, fateOf({ outcome, word, cause: run.cause }, this.#limitsOf(run), Math.random()));
      },
      onUncaught: (run, error) => this.#stop(run, { kind: "uncaught", error: thrownText(error) }),
      onStuck: (run) => run.log.warn({ event: "task-ignores-abort" }, "the handler of a task ignores its abort"),
      onBadParams: (run, error) => this.#end(run, badParams(error)),
      onInterrupted: (run, { detail }) => {
        run.log.warn({ event: "task-interrupted", why: detail }, "the task begins again, through no fault of its own");
        this.#end(run, fateOfInterrupted(run.cause, this.#limitsOf(run), Math.random()));
      },
      onMoved: (run, { detail: why }) => this.#stop(run, { kind: "moved", why }),
      onNotBegun: (run) => this.#notBegun(run),
    };
  }

  /** How many have, or wait for, a handler. */
  get size(): number {
    return this.#runs.size;
  }

  /** The sends whose messages are held. */
  get held(): SendId[] {
    return this.#teller.held;
  }

  accept(task: StartTask, message: TaskMessage): void {
    const run = this.#admit(task, message);
    if (run !== undefined) this.#line.enter(run);
  }

  /** Tasks that came together: one call for many, where their type takes batches. */
  acceptBundle(tasks: readonly StartTask[], message: TaskMessage): void {
    const [first] = tasks;
    const size = first && this.#parts.types.get(first.type)?.batch;
    if (first === undefined || size === undefined) {
      for (const task of tasks) this.accept(task, message);
      return;
    }
    const runs = tasks.flatMap((task) => this.#admit(task, message) ?? []);
    for (let i = 0; i < runs.length; i += size) {
      const batch = new TaskBatch(first.type, runs.slice(i, i + size), this.#parts.log);
      for (const run of batch.left) this.#batches.set(run, batch);
      this.#line.enter(batch);
    }
  }

  /** Tasks that came together and run in turn. */
  acceptLane(tasks: readonly StartTask[], message: TaskMessage): void {
    const runs = tasks.flatMap((task) => this.#admit(task, message) ?? []);
    if (runs.length === 0) return;
    const lane = new TaskLane(runs, {
      begin: (run) => this.#begin(run),
      beginBehind: (run, other) => this.#beginBehind(run, other),
      begun: (run) => this.#begun(run),
    });
    for (const run of runs) this.#lanes.set(run, lane);
    this.#line.enter(lane);
  }

  /** @returns it, if it is to begin when a worker is free; not what is here already, is not wanted, or waits for another of its task */
  #admit(task: StartTask, message: TaskMessage): TaskRun | undefined {
    const run = new TaskRun(task, message, this.#parts.log);
    const known = this.#runs.of(task.taskId);
    const same = known.find((one) => one.task.sendId === task.sendId && this.#parts.holds(one.message.generation));
    if (same !== undefined) {
      // The same message once more: the broker has taken it back. Another one of the same send: there is no need of it.
      if (message.deliveryCount > same.message.deliveryCount) this.#parts.takenBack(message.generation);
      else message.settle("ack");
      return undefined;
    }
    this.#teller.hold(run);
    if (this.#cancelled.delete(task.sendId)) {
      this.#teller.end(run, { kind: "end", fact: { outcome: "cancelled" } });
      return undefined;
    }
    this.#runs.put(run);
    if (known.length === 0) return run;
    for (const one of known) this.#stop(one, { kind: "obsolete" });
    return undefined;
  }

  /** A bundle that was given out before: the books know what of it is still to be done. */
  giveBack(tasks: readonly StartTask[], message: TaskMessage): void {
    const holdsOne = tasks.some(({ taskId, sendId }) =>
      this.#runs.of(taskId).some((run) => run.task.sendId === sendId && this.#parts.holds(run.message.generation)),
    );
    if (holdsOne) return this.#parts.takenBack(message.generation);
    for (const task of tasks) {
      const run = new TaskRun(task, message, this.#parts.log);
      this.#teller.hold(run);
      this.#teller.end(run, { kind: "return", isRedelivered: true });
    }
  }

  /** Ends that attempt for good; where there is none, its message is refused when it comes. */
  cancel(taskId: TaskId, sendId: SendId): void {
    const run = this.#runs.find(taskId, sendId);
    if (run !== undefined) return this.#stop(run, { kind: "stopped" });
    this.#cancelled.add(sendId);
    const [oldest] = this.#cancelled;
    if (this.#cancelled.size > MAX_REMEMBERED && oldest !== undefined) this.#cancelled.delete(oldest);
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
    return this.#parts.handlers.endForCertain(this.#runs.unsettled(generation).map((run) => this.#batches.get(run) ?? run));
  }

  #begin(run: TaskRun): void {
    const { handlers, types, holds } = this.#parts;
    if (!holds(run.message.generation)) return this.#end(run, { kind: "release", isOurs: false });
    run.startedAt = Date.now();
    if (!types.has(run.task.type)) return this.#end(run, { kind: "end", fact: { outcome: "unknown-type" } });
    const wrong = handlers.checkParams(run);
    if (wrong !== undefined) return this.#end(run, badParams(wrong));
    if (run.task.alone === true) handlers.keepAlone(run);
    handlers.noRoomFor(run); // makes room; where there is none it waits in the slots' own line
    this.#begun(run);
    run.attempt = handlers.start(this.#host, run);
  }

  /** Of a lane: where its handler can begin without being waited for here, once that of the other has settled. */
  #beginBehind(run: TaskRun, { attempt: other }: TaskRun): boolean {
    const { handlers, types, holds } = this.#parts;
    const { type, alone = false } = run.task;
    if (other === undefined || alone || !types.has(type) || !holds(run.message.generation)) return false;
    const attempt = handlers.startBehind(this.#host, run, other);
    if (attempt === undefined) return false;
    run.attempt = attempt;
    run.isRunning = true; // at any moment, and that is heard of later
    return true;
  }

  /** Its handler runs. */
  #begun(run: TaskRun): void {
    const wasSaid = run.begins();
    // Of a bundle nothing is run by who gets it next: what has ended its service is sent alone, and then told of at once.
    if (!wasSaid) this.#teller.started(run, run.message.isShared);
    const timeoutMs = this.#parts.types.get(run.task.type)?.timeoutMs;
    if (timeoutMs === undefined) return;
    run.timer = setTimeout(() => this.#stop(run, { kind: "uncaught", error: timeIsUp(timeoutMs) }), timeoutMs);
  }

  #beginBatch(batch: TaskBatch): void {
    const { handlers, types, holds } = this.#parts;
    const type = types.get(batch.start.type);
    for (const run of [...batch.left]) {
      if (!holds(run.message.generation)) this.#end(run, { kind: "release", isOurs: false });
      else if (type === undefined) this.#end(run, { kind: "end", fact: { outcome: "unknown-type" } });
      else {
        run.begins();
        this.#teller.started(run, false); // who was never told of as Running goes together with the others again
      }
    }
    if (batch.left.size === 0) return;
    handlers.noRoomFor(batch);
    batch.attempt = handlers.start(this.#batchHost, batch);
    const timeoutMs = type?.timeoutMs;
    if (timeoutMs === undefined) return;
    batch.timer = setTimeout(() => this.#stopBatch(batch, { kind: "uncaught", error: timeIsUp(timeoutMs) }), timeoutMs);
  }

  #stopBatch(batch: TaskBatch, cause: StopCause): void {
    for (const run of [...batch.left]) this.#stop(run, cause);
  }

  /** What becomes of a call becomes of each of its tasks that has not ended, unless something was told of it. */
  #endsOfBatches(): Omit<HandlerHost<TaskBatch>, "publish" | "stopTimeoutMs" | "tracing" | "tailOf"> {
    const endEach = (batch: TaskBatch, fateOfOne: (run: TaskRun) => TaskFate): void => {
      for (const run of [...batch.left]) this.#end(run, fateOfOne(run));
    };
    return {
      onSettled: (batch, outcome, word = {}) =>
        endEach(batch, (run) => {
          const end = { cause: run.cause, ...memberEnd(outcome, word, run.task.taskId) };
          return fateOf(end, this.#limitsOf(run), Math.random());
        }),
      onUncaught: (batch, error) => this.#stopBatch(batch, { kind: "uncaught", error: thrownText(error) }),
      onStuck: (batch) => batch.log.warn({ event: "task-ignores-abort" }, "the handler of a batch ignores its abort"),
      onBadParams: (batch, error) => endEach(batch, () => badParams(error)),
      onInterrupted: (batch, { detail }) => {
        batch.log.warn({ event: "task-interrupted", why: detail }, "the tasks of a batch go back, to be sent one by one");
        endEach(batch, (run) => fateOfInterrupted(run.cause, this.#limitsOf(run), Math.random()));
      },
      onMoved: (batch, { detail: why }) => this.#stopBatch(batch, { kind: "moved", why }),
    };
  }

  /** It was put behind another, and has not begun there. */
  #notBegun(run: TaskRun): void {
    if (run.cause !== undefined) return this.#end(run, fateOfInterrupted(run.cause, this.#limitsOf(run), Math.random()));
    clearTimeout(run.timer);
    run.isRunning = false;
    run.attempt = undefined;
    this.#lanes.get(run)?.notBegun(run);
    this.#runs.look();
  }

  #stop(run: TaskRun, cause: StopCause): void {
    if (run.cause !== undefined && !isStronger(cause, run.cause)) return;
    run.cause = cause;
    const batch = this.#batches.get(run);
    if (run.isRunning) return batch === undefined ? run.attempt?.abort(cause) : batch.stop(run, cause);
    // It waits for another one of its task to settle.
    this.#end(run, fateOfInterrupted(cause, this.#limitsOf(run), Math.random()));
  }

  #limitsOf({ task }: TaskRun): TaskLimits {
    const retry = this.#parts.types.get(task.type)?.retry ?? NO_RETRY;
    return { failures: task.failures, maxAttempts: task.maxAttempts, retry };
  }

  #end(run: TaskRun, fate: TaskFate): void {
    clearTimeout(run.timer);
    run.isRunning = false;
    const batch = this.#batches.get(run);
    const isAgain = fate.kind === "again" && this.#parts.holds(run.message.generation);
    if (isAgain && batch === undefined) return this.#again(run);
    // It cannot go back to the queue alone.
    const isPart = run.message.isShared && fate.kind === "release" && fate.isOurs;
    // Of a batch that was interrupted nobody knows who it was: each of it goes on alone.
    this.#teller.end(run, isAgain || isPart ? { kind: "return", isRedelivered: isAgain } : fate);
    this.#batches.delete(run);
    const lane = this.#lanes.get(run);
    if (lane !== undefined) this.#leaveLane(run, lane);
    else if (batch === undefined) this.#leave(run);
    else if (batch.left.delete(run) && batch.left.size === 0) this.#leave(batch);
    this.#remove(run);
  }

  #leave(one: TaskRun | TaskBatch): void {
    clearTimeout(one.timer);
    this.#parts.handlers.forget(one);
    this.#line.leave(one);
  }

  #leaveLane(run: TaskRun, lane: TaskLane): void {
    this.#lanes.delete(run);
    this.#parts.handlers.forget(run);
    if (lane.leave(run)) this.#line.leave(lane);
  }

  #again(run: TaskRun): void {
    const next = run.successor();
    this.#teller.handOver(run, next);
    this.#runs.replace(run, next);
    const lane = this.#lanes.get(run);
    if (lane === undefined) {
      this.#line.handOver(run, next);
      return this.#begin(next);
    }
    this.#lanes.delete(run);
    this.#lanes.set(next, lane);
    lane.replace(run, next);
  }

  #remove(run: TaskRun): void {
    const next = this.#runs.remove(run);
    if (next !== undefined) this.#line.enter(next);
    this.#runs.look();
  }
}

/** Of a type that this service does not have: nothing of it fails here. */
const NO_RETRY = { maxAttempts: 10, initialMs: 1_000, factor: 2, maxMs: 300_000, jitter: 0.2 };
