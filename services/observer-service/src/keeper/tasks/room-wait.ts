import type { Log } from "../../log.ts";
import type { Handlers } from "../runs/handlers.ts";
import type { TaskBatch } from "./task-batch.ts";
import type { TaskRun } from "./task-run.ts";

/** So long a slot is waited for where none is to be had: the books then send it again, maybe to a service that has one. */
const PATIENCE_MS = 3_000;
/** Of each type. */
const SAID_EVERY_MS = 60_000;

/**
 * Tasks, or calls for many, that need a slot of their own (their type asks for it, or they have ended one), or whose type no slot has: its file does not
 * load any more, and the folder was not loaded again. Guarantees: who has no slot and none to come after that time is told to end as one that has not
 * begun; and it is said why, at most once a minute of a type.
 */
export class RoomWait {
  readonly #handlers: Pick<Handlers, "noSlotFor">;
  readonly #log: Log;
  readonly #saidMs = new Map<string, number>();

  constructor({ handlers, log }: { handlers: Pick<Handlers, "noSlotFor">; log: Log }) {
    this.#handlers = handlers;
    this.#log = log;
  }

  /** It is about to be started; its timer is the time of that, until it has a slot. @returns whether there is room, which is made where it can be */
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
