export interface FreeWorkers {
  ofPool: number;
  ofType: ReadonlyMap<string, number>;
}

/** The free workers of one pool. Each type can have no more than its pool has, and no more than the services that know it have. */
export class WorkersLeft {
  #ofPool: number;
  readonly #ofType: Map<string, number>;

  constructor({ ofPool, ofType }: FreeWorkers) {
    this.#ofPool = ofPool;
    this.#ofType = new Map(ofType);
  }

  of(type: string): number {
    return Math.min(this.#ofPool, this.#ofType.get(type) ?? 0);
  }

  /** There are workers, but not for this type. */
  isFullFor(type: string): boolean {
    return this.#ofPool > 0 && this.of(type) <= 0;
  }

  take(type: string): void {
    this.#ofPool -= 1;
    this.#ofType.set(type, (this.#ofType.get(type) ?? 0) - 1);
  }

  copy(): WorkersLeft {
    return new WorkersLeft({ ofPool: this.#ofPool, ofType: this.#ofType });
  }
}
