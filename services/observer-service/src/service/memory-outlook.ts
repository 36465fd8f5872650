import type { Circumstances } from "../keeper/intake/appetite.ts";
import type { SlotsView } from "../keeper/slots/slot-history.ts";
import { memoryInUse } from "../machine/memory.ts";
import type { RunCost } from "../machine/run-cost.ts";

/** What `WORKER_COUNT=auto` depends on: how much memory is in use, and how much one observer takes, measured as it runs. */
export class MemoryOutlook {
  readonly #slots: Pick<SlotsView, "memory">;
  readonly #cost: RunCost;
  readonly #running: { observers(): number; tasks(): number };
  /** Whether tasks have run since the last measurement, so that growth may be theirs. */
  #hadTasks = false;

  constructor(slots: Pick<SlotsView, "memory">, cost: RunCost, running: { observers(): number; tasks(): number }) {
    this.#slots = slots;
    this.#cost = cost;
    this.#running = running;
  }

  taskEnded(): void {
    this.#hadTasks = true;
  }

  /** @param isSettled what runs has had the time to allocate what it needs */
  look(isSettled: boolean): Pick<Circumstances, "costBytes" | "memory"> {
    const { usedBytes, limitBytes, grownBytes } = this.#slots.memory();
    this.#hadTasks ||= this.#running.tasks() > 0;
    if (isSettled) {
      this.#cost.note(this.#running.observers(), grownBytes, this.#hadTasks);
      this.#hadTasks = false;
    }
    const all = memoryInUse(process.memoryUsage.rss() + usedBytes);
    const inSlots = { usedBytes, limitBytes, of: "what its slots share (SLOT_MEMORY_MB)" };
    return { costBytes: this.#cost.bytes, memory: all === undefined ? [inSlots] : [all, inSlots] };
  }
}
