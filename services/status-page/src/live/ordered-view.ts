import type { ListFilter } from "../store/list-filter.ts";
import { OrderedRows } from "../store/ordered-rows.ts";
import type { LiveObservers } from "./live-observers.ts";
import { Signal } from "./signal.ts";

/** What a filter lets through, kept in order for as long as somebody looks. */
export class OrderedView {
  rows: OrderedRows;
  readonly #observers: LiveObservers;
  readonly #filter: ListFilter;
  readonly #signal = new Signal();
  #builtAt: number;

  constructor(observers: LiveObservers, filter: ListFilter) {
    this.#observers = observers;
    this.#filter = filter;
    this.rows = new OrderedRows(filter, observers.index.rows());
    this.#builtAt = observers.changed.version;
  }

  readonly getVersion = (): number => this.#signal.version;

  readonly subscribe = (listener: () => void): (() => void) => {
    if (this.#observers.changed.version !== this.#builtAt) this.#rebuild(); // what came between the making and the looking
    const unfollow = this.#observers.follow((changes) => this.rows.apply(changes));
    const unsubscribe = this.#signal.subscribe(listener);
    const forget = this.#observers.changed.subscribe(() => {
      this.#builtAt = this.#observers.changed.version;
      this.#signal.tell();
    });
    return () => {
      for (const end of [unfollow, unsubscribe, forget]) end();
    };
  };

  #rebuild(): void {
    this.rows = new OrderedRows(this.#filter, this.#observers.index.rows());
    this.#signal.tell();
  }
}
