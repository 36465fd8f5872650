import type { ObserverView, ServiceView } from "@unacked/contracts";

export type Change = { kind: "observer"; view: ObserverView } | { kind: "service"; view: ServiceView };

/** A row as it is now, and the transaction (PostgreSQL's 64-bit xid) that last wrote it. */
export interface LoggedChange {
  change: Change;
  xid: bigint;
}

/** Transactions `from` ≤ xid < `to`. */
export interface XidRange {
  from: bigint;
  to: bigint;
}

/** A place in the order of all changes. A number of one database means nothing in another, nor in one that was promoted in its place. */
export interface ChangePlace {
  database: string;
  xid: bigint;
}

/** What can be seen at a moment: what was written by transactions below `latest` that do not run. */
export interface Sight {
  latest: bigint;
  /** Of those below it, lowest first. */
  running: readonly bigint[];
}

/** How far the changes of a database have been told: all before `xid`, and of those behind it what was seen `ahead`. */
export interface ToldTo extends ChangePlace {
  ahead: Sight;
}

/** The first transaction not below `settled` that `now` may see and `before` did not. At `now.latest` or above: none. */
export function firstUnseen(before: Sight | undefined, now: Sight, settled: bigint): bigint {
  const first = before?.running.find((xid) => !now.running.includes(xid)) ?? before?.latest ?? settled;
  return first > settled ? first : settled;
}

/** A place within a range, for reading it page by page. */
export interface ChangePosition {
  xid: bigint;
  id: string;
}

/** The books, read by what changed. Rejects while the database is away. */
export interface ChangeLog {
  /**
   * `settled`: every transaction below it is over, so nothing below it can still appear. `database`: all are numbers of this one.
   */
  horizon(): Promise<Sight & { settled: bigint; database: string }>;
  /** How many rows changed in the range; stops counting at `atMost`. */
  count(range: XidRange, atMost: number): Promise<number>;
  /**
   * Changed rows in order of (xid, id), behind `after`. `next` is null on the last page. A row that has changed once more
   * since is left out: it comes again with its later xid. `bytes`: of what may be long in them.
   */
  page(
    range: XidRange,
    after: ChangePosition | null,
  ): Promise<{ changes: LoggedChange[]; bytes: number; next: ChangePosition | null }>;
}

/** Says that something may have changed: a hint, neither complete nor exact. */
export interface Wakeups {
  onWake(listener: () => void): void;
}
