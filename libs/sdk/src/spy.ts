import type { TaskCreation } from "./creations.ts";
import type { LogFields, LogLevel } from "./observer-context.ts";
import { SdkError } from "./sdk-error.ts";

/** A line that a handler has logged. */
export type LoggedLine = {
  /** Its severity. */
  readonly level: LogLevel;
  /** Its text. */
  readonly message: string;
  /** What was logged beside it. Absent: nothing. */
  readonly fields?: LogFields;
};

/** What a handler may be seen to do, by kind. */
export type Sight = {
  /** It emitted this, as a subscriber would read it: after JSON. */
  event: unknown;
  /** It logged this line. */
  log: LoggedLine;
  /** It saved this, as the next run would be given it. */
  checkpoint: unknown;
  /** It created this task, and has completed. */
  task: TaskCreation;
};

/** Sees what a handler does in the harness, and waits for it: `run.spy`, or the `spy` that `runTask` is given. */
export class Spy {
  readonly #seen: { readonly [Kind in keyof Sight]: Sight[Kind][] } = { event: [], log: [], checkpoint: [], task: [] };
  readonly #looks = new Set<() => void>();
  /** One spy may see many runs, also at once. */
  #running = 0;
  #over: string | undefined;

  /** All of a kind, in their order. It grows while the run goes on. */
  seen<Kind extends keyof Sight>(kind: Kind): readonly Sight[Kind][] {
    return this.#seen[kind];
  }

  /**
   * The first of a kind, of those seen before as well, for which the predicate holds. Rejects with `event-not-seen` after
   * `timeoutMs` (default 5,000) or when the run ends without one.
   */
  waitFor<Kind extends keyof Sight>(
    kind: Kind,
    predicate: (seen: Sight[Kind]) => boolean = () => true,
    options: { readonly timeoutMs?: number } = {},
  ): Promise<Sight[Kind]> {
    const { timeoutMs = 5_000 } = options;
    return new Promise((resolve, reject) => {
      const all = this.#seen[kind];
      let next = 0;
      const settle = (act: () => void) => {
        clearTimeout(timer);
        this.#looks.delete(look);
        act();
      };
      const giveUp = (why: string) =>
        settle(() => reject(new SdkError("event-not-seen", `${why}; ${all.length} others came`)));
      const look = () => {
        while (next < all.length) {
          const one = all[next++] as Sight[Kind];
          try {
            if (predicate(one)) return settle(() => resolve(one));
          } catch (error) {
            return settle(() => reject(error as Error)); // of the test, not of the handler that is seen
          }
        }
        if (this.#over !== undefined) giveUp(`${this.#over} without such ${AN[kind]}`);
      };
      const timer = setTimeout(() => giveUp(`no such ${kind} within ${timeoutMs} ms`), timeoutMs);
      this.#looks.add(look);
      look();
    });
  }

  /** For the harness: it did this. */
  note<Kind extends keyof Sight>(kind: Kind, seen: Sight[Kind]): void {
    this.#seen[kind].push(seen);
    for (const look of this.#looks) look();
  }

  /** For the harness: a run begins, which ends with `end`. */
  begin(): void {
    this.#running += 1;
    this.#over = undefined;
  }

  /** For the harness: nothing more comes of that run. @param how "the run ended as completed" */
  end(how: string): void {
    this.#running -= 1;
    if (this.#running > 0) return;
    this.#over = how;
    for (const look of this.#looks) look();
  }
}

const AN = { event: "an event", log: "a log line", checkpoint: "a checkpoint", task: "a task" };
