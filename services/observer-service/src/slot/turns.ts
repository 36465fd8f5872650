import { AsyncResource } from "node:async_hooks";
import { setImmediate } from "node:timers";
import type { Begin } from "../wire/messages.ts";
import { Lines } from "./lines.ts";

/** Whose turn it is in which line. The next one of a line begins a turn of the event loop after the one before it has ended. */
export class Turns {
  readonly #lines = new Lines();
  /** Runs whose turn has come in their lines. */
  #due: Begin[] = [];
  readonly #begin: (begins: Begin[]) => void;
  /** In no async context, so that a handler does not begin in what the one before it has left behind. */
  readonly #beginDue = AsyncResource.bind(() => this.#begin(this.#due.splice(0)));

  /** @param begin those whose turn has come */
  constructor(begin: (begins: Begin[]) => void) {
    this.#begin = begin;
  }

  /** @param runsAlone whether the one that the line is named after runs @returns whether this one begins now */
  enter(begin: Begin, line: number, runsAlone: boolean): boolean {
    return this.#lines.enter(begin, line, runsAlone);
  }

  /** The running handler of this line has ended. Ends of one turn of the event loop travel together, before what begins then. */
  ended(line: number): void {
    const next = this.#lines.next(line);
    if (next === undefined) return;
    if (this.#due.length === 0) setImmediate(this.#beginDue);
    this.#due.push(next);
  }

  /** Takes one out that has not begun. @returns whether there was one */
  takeOut(attempt: number): boolean {
    const due = this.#due.find((one) => one.attempt === attempt);
    if (due === undefined) return this.#lines.takeOut(attempt);
    this.#due = this.#due.filter((one) => one !== due);
    if (due.line !== undefined) this.ended(due.line);
    return true;
  }

  /** Takes all out that have not begun. @returns their attempts */
  takeOutAll(): number[] {
    const waiting = this.#lines.takeOutAll();
    const due = this.#due.map(({ attempt }) => attempt);
    for (const attempt of due) this.takeOut(attempt);
    return [...waiting, ...due];
  }
}
