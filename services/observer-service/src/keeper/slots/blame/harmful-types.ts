/** The time within which culprits count, and for which a type then counts as harmful. */
const LATELY_MS = 600_000;
const MANY = 3;

interface Culprit {
  readonly taskId: string;
  readonly atMs: number;
}

/**
 * Types of tasks that end the slots which others share. A task is known by its id, and each new one of a type with bad inputs begins among
 * the others and ends their slot first. So after three different ones within 10 minutes the next of that type share a slot of their own,
 * until 10 minutes have passed without such a task. Pure: time is an argument.
 */
export class HarmfulTypes {
  /** The last culprits of each type, the newest last. */
  readonly #culprits = new Map<string, readonly Culprit[]>();
  readonly #untilMs = new Map<string, number>();

  /** This task was named as what ended its slot, or its slot was ended for it. @returns whether its type is harmful from now on */
  note(type: string, taskId: string, nowMs = performance.now()): boolean {
    const before = this.#culprits.get(type) ?? [];
    const others = before.filter((one) => one.taskId !== taskId && nowMs - one.atMs < LATELY_MS);
    const culprits = [...others, { taskId, atMs: nowMs }].slice(-MANY);
    this.#culprits.set(type, culprits);
    if (culprits.length < MANY) return false;
    const isNews = !this.has(type, nowMs);
    this.#untilMs.set(type, nowMs + LATELY_MS);
    return isNews;
  }

  has(type: string, nowMs = performance.now()): boolean {
    return nowMs < (this.#untilMs.get(type) ?? 0);
  }
}
