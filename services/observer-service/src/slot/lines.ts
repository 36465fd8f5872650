import type { Begin } from "../wire/messages.ts";

/**
 * In each line one handler runs at a time, and the others wait here, in the order in which they came. A line lasts until nobody of it is
 * left.
 */
export class Lines {
  /** The waiting handlers by line. Without an entry nobody of the line runs, or only the one that it is named after. */
  readonly #waiting = new Map<number, Begin[]>();

  /** @param runsAlone whether the one that the line is named after runs @returns whether this one begins now */
  enter(begin: Begin, line: number, runsAlone: boolean): boolean {
    const waiting = this.#waiting.get(line);
    if (waiting !== undefined) waiting.push(begin);
    else this.#waiting.set(line, runsAlone ? [begin] : []);
    return waiting === undefined && !runsAlone;
  }

  /** The running handler of this line has ended. @returns the one whose turn it is */
  next(line: number): Begin | undefined {
    const next = this.#waiting.get(line)?.shift();
    if (next === undefined) this.#waiting.delete(line);
    return next;
  }

  /** Takes a waiting one out. @returns whether it waited */
  takeOut(attempt: number): boolean {
    for (const waiting of this.#waiting.values()) {
      const place = waiting.findIndex((one) => one.attempt === attempt);
      if (place < 0) continue;
      waiting.splice(place, 1);
      return true;
    }
    return false;
  }

  /** Takes all waiting ones out. @returns their attempts */
  takeOutAll(): number[] {
    return [...this.#waiting.values()].flatMap((waiting) => waiting.splice(0)).map(({ attempt }) => attempt);
  }
}
