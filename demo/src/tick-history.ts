/** The last ticks of one product, as they were sent. */
export type TickHistory = {
  add(sequence: number, json: string): void;
  /**
   * What was sent after the tick of this sequence, in order; `undefined`: that one is not known any more, or never was. Looked for from the newest on, as
   * a replay begins its numbers again.
   */
  after(sequence: number): string[] | undefined;
};

const kept = 20_000;

/** @param before the sequence that the first tick follows */
export function createTickHistory(before: number): TickHistory {
  const ticks: { sequence: number; json: string }[] = [{ sequence: before, json: "" }];
  return {
    add(sequence, json) {
      ticks.push({ sequence, json });
      if (ticks.length > 2 * kept) ticks.splice(0, kept);
    },
    after(sequence) {
      const at = ticks.findLastIndex((tick) => tick.sequence === sequence);
      return at === -1 ? undefined : ticks.slice(at + 1).map(({ json }) => json);
    },
  };
}
