import type { ServiceId } from "@unacked/contracts";

/** Counts of one type on one service. */
export interface RunFigure {
  readonly type: string;
  readonly serviceId: ServiceId;
  starts: number;
  failures: number;
  interruptions: number;
  emits: number;
}

export type RunCount = Exclude<keyof RunFigure, "type" | "serviceId">;

/** What one transaction adds: as many rows as there are types and services in it, however many runs there were. */
export class RunFigureSums {
  readonly #sums = new Map<string, RunFigure>();

  add(type: string, serviceId: ServiceId, count: RunCount, by = 1): void {
    const key = `${serviceId} ${type}`;
    const sums = this.#sums.get(key) ?? { type, serviceId, starts: 0, failures: 0, interruptions: 0, emits: 0 };
    sums[count] += by;
    this.#sums.set(key, sums);
  }

  /** The order is always the same, so that two transactions do not wait for one another in a circle. */
  rows(): RunFigure[] {
    return [...this.#sums].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, sums]) => sums);
  }
}
