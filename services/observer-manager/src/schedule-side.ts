import type { TaskId, Wanted } from "@unacked/contracts";
import type { Stores } from "./adapters/postgres/postgres-stores.ts";
import type { Log } from "./operations/log.ts";
import { LevelSetter } from "./operations/schedules/level-setter.ts";
import { ScheduleDesk } from "./operations/schedules/schedule-desk.ts";
import { ScheduleFirer } from "./operations/schedules/schedule-firer.ts";
import type { ScheduleTally } from "./operations/tally.ts";
import type { UnwantedSend } from "./operations/tasks/unwanted-send.ts";

export interface ScheduleSideParts {
  stores: Pick<Stores, "schedules" | "tasks">;
  tally: ScheduleTally;
  /** Tasks were created. */
  wakeTasks(): void;
  cancelled(over: TaskId[], refuse: UnwantedSend[]): void;
  /** Whether observers may be changed so just now. */
  mayWant(wanted: Wanted): boolean;
  /** Commands for observers were written. */
  committed(): void;
  log: Log;
}

/** Wires what the manager does by the calendar, and starts and ends it in order. It decides nothing. */
export class ScheduleSide {
  readonly desk: ScheduleDesk;
  readonly #firer: ScheduleFirer;
  readonly #levels: LevelSetter;

  constructor({ stores, tally, wakeTasks, cancelled, mayWant, committed, log }: ScheduleSideParts) {
    const { store, firing, levels } = stores.schedules;
    this.#firer = new ScheduleFirer({ store: firing, wakeTasks, cancelled, tally, log });
    this.#levels = new LevelSetter({ store: levels, mayWant, committed, tally, log });
    const wake = (): void => {
      this.#firer.wake();
      this.#levels.wake();
    };
    this.desk = new ScheduleDesk({ store, types: stores.tasks.store, wake, wakeTasks, cancelled });
  }

  /** Tasks are over. */
  tasksEnded(): void {
    this.#firer.tasksEnded();
  }

  start(): void {
    this.#firer.start();
    this.#levels.start();
  }

  async close(): Promise<void> {
    await Promise.all([this.#firer.stop(), this.#levels.stop()]);
  }
}
