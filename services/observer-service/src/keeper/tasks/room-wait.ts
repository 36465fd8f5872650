import type { Log } from "../../log.ts";
import type { Handlers } from "../runs/handlers.ts";
import type { TaskBatch } from "./task-batch.ts";
import type { TaskRun } from "./task-run.ts";

/**
 * How long a slot is waited for if none can be had. Then the manager sends the task again, maybe to a service that has one.
 */
const PATIENCE_MS = 3_000;
/** How often it is logged for each type. */
const SAID_EVERY_MS = 60_000;

/**
 * Tasks, or calls for many, that need a slot of their own (their type asks for it, or they have ended one), or whose type no slot has: its
 * file does not load any more, and the folder was not loaded again. Guarantees: a task that has no slot after that time, with none to come,
 * is told to end as one that has not begun; and the reason is logged, at most once a minute for a type.
 */
export class RoomWait {
  readonly #handlers: Pick<Handlers, "noSlotFor">;
  readonly #log: Log;
  readonly #saidMs = new Map<string, number>();

  constructor({ handlers, log }: { handlers: Pick<Handlers, "noSlotFor">; log: Log }) {
    this.#handlers = handlers;
    this.#log = log;
  }

  /**
   * The task is about to start; until it has a slot its timer bounds the wait. @returns whether there is room, which is made if possible
   */
  begin(one: TaskRun | TaskBatch): boolean {
    this.#lookLater(one);
    return this.#handlers.noSlotFor(one) === undefined;
  }

  #lookLater(one: TaskRun | TaskBatch): void {
    one.timer = setTimeout(() => {
      const why = this.#handlers.noSlotFor(one);
      if (why === undefined) return this.#lookLater(one); // its slot is being started
      this.#say(one.start.type, why);
      one.hasNoSlot = true;
      one.attempt?.abort({ kind: "moved", why });
    }, PATIENCE_MS);
  }

  #say(type: string, why: string): void {
    const nowMs = performance.now();
    if (nowMs - (this.#saidMs.get(type) ?? Number.NEGATIVE_INFINITY) < SAID_EVERY_MS) return;
    this.#saidMs.set(type, nowMs);
    this.#log.warn({ event: "task-no-slot", type, why }, "tasks have waited for a slot, and go back to be sent again");
  }
}
