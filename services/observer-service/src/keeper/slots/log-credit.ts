/** The most lines in a turn. If more are logged, lines are dropped in their own slot. */
const LINES_A_TURN = 1_000;
const TURN_MS = 100;

/** Tells a slot how many of its lines have been written, at a pace: a flood of lines must not take all of the keeper's time. */
export class LogCredit {
  readonly #give: (lines: number) => void;
  #written = 0;
  #turn: NodeJS.Timeout | undefined;

  constructor(give: (lines: number) => void) {
    this.#give = give;
  }

  lineWritten(): void {
    this.#written += 1;
    if (this.#turn === undefined) this.#turn = this.#nextTurn();
  }

  #nextTurn(): NodeJS.Timeout {
    return setTimeout(() => {
      const lines = Math.min(this.#written, LINES_A_TURN);
      this.#written -= lines;
      this.#give(lines);
      this.#turn = this.#written === 0 ? undefined : this.#nextTurn();
    }, TURN_MS).unref();
  }
}
