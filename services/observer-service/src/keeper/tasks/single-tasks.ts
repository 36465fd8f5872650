import { thrownText } from "../../error-text.ts";
import type { TaskTypeEntry } from "../../wire/messages.ts";
import type { StopCause } from "../../wire/stop-cause.ts";
import { logGoneWithSlot } from "../runs/gone-with-slot.ts";
import type { HandlerHost, Handlers } from "../runs/handlers.ts";
import type { Paces } from "./paces.ts";
import type { RoomWait } from "./room-wait.ts";
import type { HandlerBasics } from "./task-batches.ts";
import { badParams, type TaskFate } from "./task-end.ts";
import type { TaskFates } from "./task-fates.ts";
import type { TaskRun } from "./task-run.ts";
import type { TaskTeller } from "./task-teller.ts";
import type { TimeLimits } from "./time-limits.ts";

export interface SingleTasksParts {
  readonly handlers: Handlers;
  readonly types: ReadonlyMap<string, TaskTypeEntry>;
  /** Whether the lease of that generation is held. */
  readonly holds: (generation: number) => boolean;
  readonly fates: TaskFates;
  readonly basics: HandlerBasics;
  readonly roomWait: RoomWait;
  readonly timeLimits: TimeLimits;
  readonly paces: Pick<Paces, "note">;
  readonly teller: Pick<TaskTeller, "started">;
  readonly stop: (run: TaskRun, cause: StopCause) => void;
  readonly end: (run: TaskRun, fate: TaskFate) => void;
  /** A run that was put behind another has not begun there, and waits again. */
  readonly notBegun: (run: TaskRun) => void;
}

/** Tasks that have a call of their own, alone or in a lane. The outcome of the call is that of its task. */
export class SingleTasks {
  readonly host: HandlerHost<TaskRun>;
  readonly #parts: SingleTasksParts;

  constructor(parts: SingleTasksParts) {
    this.#parts = parts;
    const { basics, fates, paces, stop, end } = parts;
    this.host = {
      ...basics,
      onPlaced: (run) => {
        if (run.beganMs === 0) this.#begun(run); // it had to wait for its slot
        this.#timeBegins(run);
      },
      onSettled: (run, outcome, word = {}) => {
        if (run.hasNoSlot) return end(run, fates.withoutSlot(run));
        if (run.cause === undefined) paces.note(run.task.type, performance.now() - run.beganMs);
        end(run, fates.settled(run, { outcome, word }));
      },
      onUncaught: (run, error, isFinal) => stop(run, { kind: "uncaught", error: thrownText(error), isFinal }),
      onStuck: (run) => run.log.warn({ event: "task-ignores-abort" }, "the handler of a task ignores its abort"),
      onBadParams: (run, error) => end(run, badParams(error)),
      onInterrupted: (run, { detail }) => {
        logGoneWithSlot(run.log, "task", run.cause, detail);
        end(run, fates.interrupted(run, detail));
      },
      onMoved: (run, { detail: why }) => stop(run, { kind: "moved", why }),
      onNotBegun: (run) => this.#notBegun(run),
    };
  }

  /** The task has its worker. */
  begin(run: TaskRun): void {
    const { handlers, types, holds, roomWait, end } = this.#parts;
    if (!holds(run.message.generation)) return end(run, { kind: "release", isOurs: false });
    run.startedAt = Date.now();
    if (!types.has(run.task.type)) return end(run, { kind: "end", fact: { outcome: "unknown-type" } });
    const wrong = handlers.checkParams(run);
    if (wrong !== undefined) return end(run, badParams(wrong));
    if (run.task.alone === true) handlers.keepAlone(run);
    run.isRunning = true; // otherwise it waits in the slots' own line
    if (roomWait.begin(run)) this.#begun(run);
    run.attempt = handlers.start(this.host, run);
  }

  /** It was put behind another, which has settled, so that its handler runs now. */
  begunBehind(run: TaskRun): void {
    this.#begun(run);
    this.#timeBegins(run);
  }

  /** Its handler runs. */
  #begun(run: TaskRun): void {
    const wasSaid = run.begins();
    // If a bundle is redelivered, nothing of it is run. A task that has ended its service is sent alone, and then reported at once.
    if (!wasSaid) this.#parts.teller.started(run, run.message.isShared);
  }

  #timeBegins(run: TaskRun): void {
    run.beganMs = performance.now();
    this.#parts.timeLimits.begin(run, this.#parts.stop);
  }

  #notBegun(run: TaskRun): void {
    const { fates, end, notBegun } = this.#parts;
    if (run.cause !== undefined) return end(run, fates.interrupted(run));
    clearTimeout(run.timer);
    run.isRunning = false;
    run.attempt = undefined;
    notBegun(run);
  }
}
