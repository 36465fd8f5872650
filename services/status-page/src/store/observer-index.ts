import type { ObserverStatus } from "@unacked/contracts";
import { hasRestartsLeft, type ObserverRow } from "./observer-row.ts";

/** What became of one observer; a missing `before` is a new one, a missing `after` one that is kept no more. */
export interface RowChange {
  before: ObserverRow | undefined;
  after: ObserverRow | undefined;
}

/** Deleted ones pile up for as long as the manager keeps them, and a tab stays open for days; more than this nobody scrolls through. */
export const MOST_DELETED = 5_000;

/**
 * All observers that the page knows, by id. Comes in: rows from events and from list pages, in any order between them.
 * Guarantees: what an event said while a list was being read is not overwritten by the list, which may be older; when the list
 * has been read to its end, nothing is left that neither it nor an event named. Deleted ones are kept only when asked for, and of
 * them only so many, those of which it was told last.
 */
export class ObserverIndex {
  readonly #rows = new Map<string, ObserverRow>();
  readonly #byStatus = new Map<ObserverStatus, number>();
  readonly #byService = new Map<string, number>();
  #silent = 0;
  #keepsDeleted = false;
  /** Those that are kept; first those of which it was told longest ago. */
  readonly #deleted = new Set<string>();
  /** Those that an event named since the list of them is being read; null when it is not. */
  #deletedMeanwhile: Set<string> | null = null;
  /** Ids named by an event since the running load began; null when none runs. */
  #toldByEvents: Set<string> | null = null;
  #listed = new Set<string>();

  get size(): number {
    return this.#rows.size;
  }

  /** Another object whenever something was told of it. */
  get(id: string): ObserverRow | undefined {
    return this.#rows.get(id);
  }

  rows(): IterableIterator<ObserverRow> {
    return this.#rows.values();
  }

  countOf(status: ObserverStatus): number {
    return this.#byStatus.get(status) ?? 0;
  }

  /** How many run and are not heard. */
  get silent(): number {
    return this.#silent;
  }

  /** Observers that the books place on this service now. */
  runningOn(serviceId: string): number {
    return this.#byService.get(serviceId) ?? 0;
  }

  /** The types of these, each with how many there are. Looks through all observers. */
  typesOn(serviceId: string): Map<string, number> {
    const counts = new Map<string, number>();
    for (const { serviceId: at, type } of this.#rows.values())
      if (at === serviceId) counts.set(type, (counts.get(type) ?? 0) + 1);
    return counts;
  }

  keepDeleted(): void {
    this.#keepsDeleted = true;
  }

  beginLoad(): void {
    this.#toldByEvents = new Set();
    this.#listed = new Set();
  }

  takeEvents(rows: Iterable<ObserverRow>): RowChange[] {
    const changes: RowChange[] = [];
    for (const row of rows) {
      this.#toldByEvents?.add(row.id);
      if (row.status === "Deleted") this.#deletedMeanwhile?.add(row.id);
      changes.push(row.status === "Deleted" && !this.#keepsDeleted ? this.#drop(row.id) : this.#put(row));
    }
    return [...changes, ...this.#dropOldest()].filter(({ before, after }) => before !== after);
  }

  takePage(rows: Iterable<ObserverRow>): RowChange[] {
    const changes: RowChange[] = [];
    for (const row of rows) {
      this.#listed.add(row.id);
      if (!this.#toldByEvents?.has(row.id)) changes.push(this.#put(row));
    }
    return changes;
  }

  endLoad(): RowChange[] {
    const told = this.#toldByEvents;
    const listed = this.#listed;
    this.#toldByEvents = null;
    this.#listed = new Set();
    const vanished = [...this.#rows.values()].filter(
      ({ id, status }) => status !== "Deleted" && !listed.has(id) && !told?.has(id),
    );
    return vanished.map(({ id }) => this.#drop(id));
  }

  beginDeleted(): void {
    this.#deletedMeanwhile = new Set();
  }

  /**
   * Nobody comes back from being deleted: what their list says of one is never older than what is known. Those that neither it nor an
   * event named are not kept any more, here or by the manager.
   * @param rows the newest first
   */
  takeDeleted(rows: readonly ObserverRow[]): RowChange[] {
    const meanwhile = this.#deletedMeanwhile ?? new Set<string>();
    this.#deletedMeanwhile = null;
    const named = new Set(rows.map(({ id }) => id));
    const vanished = [...this.#deleted].filter((id) => !named.has(id) && !meanwhile.has(id)).map((id) => this.#drop(id));
    const listed = rows.filter(({ id }) => !meanwhile.has(id)).toReversed();
    const put = listed.map((row) => this.#put(row));
    for (const id of meanwhile) if (this.#deleted.delete(id)) this.#deleted.add(id); // they are the newest
    return [...vanished, ...put, ...this.#dropOldest()];
  }

  /** Nobody tells of it that restarts are older than 10 minutes by now: they count no more. */
  forgetRestarts(nowMs: number): RowChange[] {
    const changes: RowChange[] = [];
    for (const before of this.#rows.values()) {
      if (before.restartsLately === 0 || hasRestartsLeft(before, nowMs)) continue;
      const after = { ...before, restartsLately: 0 };
      this.#rows.set(before.id, after);
      changes.push({ before, after });
    }
    return changes;
  }

  #dropOldest(): RowChange[] {
    const changes: RowChange[] = [];
    for (const id of this.#deleted) {
      if (this.#deleted.size <= MOST_DELETED) break;
      changes.push(this.#drop(id));
    }
    return changes;
  }

  #put(row: ObserverRow): RowChange {
    const before = this.#rows.get(row.id);
    this.#rows.set(row.id, row);
    this.#deleted.delete(row.id);
    if (row.status === "Deleted") this.#deleted.add(row.id);
    this.#count(before, -1);
    this.#count(row, 1);
    return { before, after: row };
  }

  #drop(id: string): RowChange {
    const before = this.#rows.get(id);
    this.#rows.delete(id);
    this.#deleted.delete(id);
    this.#count(before, -1);
    return { before, after: undefined };
  }

  #count(row: ObserverRow | undefined, by: 1 | -1): void {
    if (row === undefined) return;
    this.#byStatus.set(row.status, this.countOf(row.status) + by);
    if (row.silentSince !== null) this.#silent += by;
    if (row.serviceId === null) return;
    const running = this.runningOn(row.serviceId) + by;
    if (running === 0) this.#byService.delete(row.serviceId);
    else this.#byService.set(row.serviceId, running);
  }
}
