import { thrownText } from "../error-text.ts";
import { lookAs } from "../isolation.ts";
import type { Late } from "../wire/late.ts";
import { RepeatedErrors } from "./repeated-errors.ts";

/** The run whose handler it was. */
export type LateRun = Pick<Late, "runId" | "type" | "observer" | "task">;

/**
 * What handlers of a slot do after their end. If a type forgets an await, each of its runs does so: for each type it is reported once a
 * second.
 */
export class LateActs {
  readonly #tell: (late: Late) => void;
  /** By type: what was thrown, and that a run logs, emits or saves, each kind by itself. */
  readonly #kinds = new Map<string, { last: LateRun; readonly noted: RepeatedErrors }>();

  constructor(tell: (late: Late) => void) {
    this.#tell = tell;
  }

  /** @param thrown absent: it logs, emits or saves */
  note(run: LateRun, thrown?: { readonly error: unknown }): void {
    const key = `${thrown === undefined ? "goes on" : "threw"} ${run.type}`;
    const kind = this.#kinds.get(key);
    if (kind !== undefined) kind.last = run;
    (kind?.noted ?? this.#begin(key, run, thrown !== undefined)).note(thrown?.error);
  }

  #begin(key: string, first: LateRun, isThrown: boolean): RepeatedErrors {
    const noted = new RepeatedErrors((error, times) => {
      const { last } = kind;
      this.#tell({ ...last, ...(isThrown && { error: lookAs(last.runId, () => thrownText(error)) }), times });
    });
    const kind = { last: first, noted };
    this.#kinds.set(key, kind);
    return noted;
  }
}
